import { fromForeignSchema } from '#models/foreign-schema.ts'
import type { Tool } from '#models/tool.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ToolCalls } from './calling/tool-calls.ts'
import { parametersOf } from './configuration.ts'
import type { StoredTool } from './tools.repository.ts'
import { listEnabledTools } from './tools.repository.ts'
import type { AgentTool } from './tools.schema.ts'

/** A tool that can be called, or why it can't. */
export type Offer = { tool: Tool; reason?: never } | { tool?: never; reason: string }

/** What an MCP server says of one of its tools. */
export interface McpDefinition {
  description: string
  parameters: Tool['parameters']
}

interface Needs {
  calls: ToolCalls
  /** The definition that a person has agreed to, or why the tool can't be called. */
  mcpDefinition(
    agent: AgentHandle,
    configuration: AgentTool['configuration'],
  ): Promise<{ definition: McpDefinition } | { reason: string }>
}

/** Turns stored tools into what a model may call. */
export function createOfferedTools({ calls, mcpDefinition }: Needs) {
  async function one(agent: AgentHandle, stored: StoredTool): Promise<Offer> {
    const own = parametersOf(stored)
    if (own !== undefined) return { tool: offer(agent, stored, own, stored.description) }
    const found = await mcpDefinition(agent, stored.configuration)
    if ('reason' in found) return found
    const { parameters, description } = found.definition
    return {
      tool: offer(agent, stored, parameters, stored.description === '' ? description : stored.description),
    }
  }

  function offer(
    agent: AgentHandle,
    stored: StoredTool,
    parameters: Tool['parameters'],
    description: string,
  ): Tool {
    return {
      name: stored.name,
      description,
      ...fromForeignSchema(parameters),
      ...(stored.requiresApproval ? { requiresApproval: true } : {}),
      execute: (input, signal) => calls.call(agent, stored, input, signal),
    }
  }

  return {
    one,

    /** The enabled tools that can be called, by cluster and name. */
    async all(agent: AgentHandle): Promise<Tool[]> {
      const offers = await Promise.all((await listEnabledTools(agent.db)).map(stored => one(agent, stored)))
      return offers.flatMap(({ tool }) => tool ?? [])
    },
  }
}

export type OfferedTools = ReturnType<typeof createOfferedTools>
