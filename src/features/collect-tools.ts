import type { Tool } from '#models/tools/tool.ts'
import { nameTools } from '#models/tools/tool-name.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Feature, ToolTurn } from './feature.ts'

/** Everything that models of an agent may call, in a turn of a conversation or without one. */
export type ToolsOf = (agent: AgentHandle, turn?: ToolTurn) => Promise<readonly Tool[]>

/** What all features offer, in their order, under distinct names: earlier tools keep theirs. */
export function collectTools(features: readonly Feature[]): ToolsOf {
  return async (agent, turn) => {
    const collected: Tool[] = []
    for (const feature of features) {
      const taken = new Set(collected.map(({ name }) => name))
      const offered = (await feature.tools?.(agent, taken, turn)) ?? []
      collected.push(...nameTools(offered, taken))
    }
    return collected
  }
}
