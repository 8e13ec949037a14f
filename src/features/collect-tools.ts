import type { Tool } from '#models/tools/tool.ts'
import { nameTools } from '#models/tools/tool-name.ts'
import type { ToolTurn } from '#models/tools/tool-turn.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Feature } from './feature.ts'

/** The tools that models of an agent may call, in a turn of a conversation or without one. */
export type ToolsOf = (agent: AgentHandle, turn?: ToolTurn) => Promise<readonly Tool[]>

/**
 * The tools of all features, in their order, under distinct names: earlier tools keep theirs. `features` is called when tools
 * are collected: features that offer tools may themselves need those of all.
 */
export function collectTools(
  features: () => Iterable<Feature>,
  record: (agent: AgentHandle, tool: Tool, isInTurn: boolean) => Tool,
): ToolsOf {
  return async (agent, turn) => {
    const collected: Tool[] = []
    for (const feature of features()) {
      const taken = new Set(collected.map(({ name }) => name))
      const offered = (await feature.tools?.(agent, taken, turn)) ?? []
      collected.push(...nameTools(offered, taken))
    }
    return collected.map(tool => record(agent, tool, turn !== undefined))
  }
}
