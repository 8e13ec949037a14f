import { type BuiltInRules, ruleOf } from '#models/tools/built-in-tools.ts'
import type { Tool } from '#models/tools/tool.ts'
import { nameTools } from '#models/tools/tool-name.ts'
import { anyTurn, type ToolTurn } from '#models/tools/tool-turn.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Feature } from './feature.ts'

/** Returns the tools that an agent's models can call, in a turn of a conversation or without one. */
export type ToolsOf = (agent: AgentHandle, turn?: ToolTurn) => Promise<readonly Tool[]>

/** Returns the built-in tools that the settings of an agent offer, and those that are switched off. */
export type BuiltInsOf = (agent: AgentHandle) => Promise<(ReturnType<typeof ruleOf> & { tool: Tool })[]>

interface Dependencies {
  /** Called when tools are collected: features that offer tools can themselves need those of all features. */
  features(): Iterable<Feature>
  record(agent: AgentHandle, tool: Tool, isInTurn: boolean): Tool
  rulesOf(agentId: string): Promise<BuiltInRules | undefined>
}

/** Collects the tools of all features, in their order, under distinct names: earlier tools keep theirs. */
export function collectTools({ features, record, rulesOf }: Dependencies) {
  async function collect(agent: AgentHandle, turn: ToolTurn | undefined) {
    const collected: (ReturnType<typeof ruleOf> & { tool: Tool })[] = []
    const rules = turn?.builtInRules ?? (await rulesOf(agent.agentId))
    for (const feature of features()) {
      const taken = new Set(collected.map(({ tool }) => tool.name))
      const offered = (await feature.tools?.(agent, taken, turn)) ?? []
      const named = nameTools(offered, taken)
      // A rule is for the tool's own name, which a tool of the agent can have taken.
      collected.push(...offered.map((own, index) => ({ tool: named[index] ?? own, ...ruleOf(own, rules) })))
    }
    return collected
  }

  const toolsOf: ToolsOf = async (agent, turn) =>
    (await collect(agent, turn))
      .filter(({ isEnabled }) => isEnabled)
      .map(({ tool, requiresApproval }) => record(agent, { ...tool, requiresApproval }, turn !== undefined))
  const builtInsOf: BuiltInsOf = async agent =>
    (await collect(agent, anyTurn)).filter(({ tool }) => tool.isBuiltIn)
  return { toolsOf, builtInsOf }
}
