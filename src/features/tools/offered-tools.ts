import { createHash } from 'node:crypto'
import type { McpService } from '#features/mcp/mcp.service.ts'
import { approvalRules } from '#models/tools/approval-rule.ts'
import { fromForeignSchema } from '#models/tools/foreign-schema.ts'
import type { Tool } from '#models/tools/tool.ts'
import { conflict } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { egressOf } from './calling/egress-of.ts'
import type { ToolCalls } from './calling/tool-calls.ts'
import { type McpConfiguration, parametersOf } from './configuration.ts'
import { findTool, listOfferable, type StoredTool } from './tools.repository.ts'

/** A tool that can be called, or the reason why it can't. */
export type Offer = { tool: Tool; reason?: never } | { tool?: never; reason: string }

/** Finds an approved tool of an MCP server, or returns the reason why it can't be called. */
export type FindMcpTool = McpService['find']

export interface Offered {
  /** The tools by cluster and name. */
  tools: Tool[]
  /**
   * Tools of MCP servers that a person has made tools of the agent's own, enabled or not: the agent's own tools take
   * precedence.
   */
  wrapped: McpConfiguration[]
}

interface Dependencies {
  calls: ToolCalls
  findMcpTool: FindMcpTool
}

/** Converts stored tools into tools that a model can call. */
export function createOfferedTools({ calls, findMcpTool }: Dependencies) {
  async function one(agent: AgentHandle, stored: StoredTool): Promise<Offer> {
    const own = parametersOf(stored)
    if (own !== undefined)
      return { tool: { ...offer(agent, stored, own, stored.description), ...egressOf(stored) } }
    const { serverId, toolName } = stored.configuration as McpConfiguration
    const found = await findMcpTool(agent, serverId, toolName)
    if ('problem' in found) return { reason: found.problem }
    const { parameters, serverUrl, description: theirs } = found.tool
    const description = stored.description === '' ? theirs : stored.description
    const egress: Tool['egress'] = () => ({ to: serverUrl, carries: 'arguments' })
    return { tool: { ...offer(agent, stored, parameters, description), egress } }
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
      requiresApproval: stored.requiresApproval,
      approvers: stored.approvers,
      version: () => versionOf(stored),
      readsOnly: async () => stored.type === 'http' && isReading(stored.configuration),
      execute: (input, signal) => calls.call(agent, stored, input, signal),
    }
  }

  /** Checks the tool before each call, because turns can take minutes: changes in the meantime apply to later calls. */
  async function whileUnchanged(agent: AgentHandle, stored: StoredTool): Promise<Offer> {
    const offered = await one(agent, stored)
    const { tool } = offered
    if (tool === undefined) return offered
    return {
      tool: {
        ...tool,
        async execute(input, signal) {
          const changed = changeOf(stored, await findTool(agent.db, stored.id))
          if (changed !== undefined) throw conflict(`The tool "${stored.name}" ${changed} meanwhile.`)
          return tool.execute(input, signal)
        },
      },
    }
  }

  return {
    one,

    /** Returns the enabled tools that can be called. */
    async all(agent: AgentHandle): Promise<Offered> {
      const stored = await listOfferable(agent.db)
      const enabled = stored.filter(({ isEnabled }) => isEnabled)
      const offers = await Promise.all(enabled.map(tool => whileUnchanged(agent, tool)))
      return {
        tools: offers.flatMap(({ tool }) => tool ?? []),
        wrapped: stored
          .filter(({ type }) => type === 'mcp')
          .map(({ configuration }) => configuration as McpConfiguration),
      }
    },
  }
}

export type OfferedTools = ReturnType<typeof createOfferedTools>

/** Returns why a tool that was offered can no longer be called; undefined if it still can. */
function changeOf(offered: StoredTool, now: StoredTool | undefined): string | undefined {
  if (now === undefined) return 'was deleted'
  if (!now.isEnabled) return 'was disabled'
  const isStricter =
    approvalRules.indexOf(now.requiresApproval) > approvalRules.indexOf(offered.requiresApproval)
  return isStricter || versionOf(now) !== versionOf(offered) ? 'was changed' : undefined
}

function versionOf({ id, configuration }: StoredTool): string {
  return createHash('sha256')
    .update(JSON.stringify([id, configuration]))
    .digest('base64url')
}

/** True for methods that only read. */
function isReading({ method }: { method?: unknown }): boolean {
  return method === 'GET' || method === 'HEAD'
}
