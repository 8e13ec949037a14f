import { fromForeignSchema } from '#models/tools/foreign-schema.ts'
import type { Tool, ToolParameters } from '#models/tools/tool.ts'
import type { Clock } from '#platform/clock.ts'
import { conflict, notFound } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Log } from '#platform/logging/log.ts'
import { withoutQuery } from '#platform/outbound/address-template.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { callApprovedTool, judgeTool } from './call-tool.ts'
import { type Connections, createConnections } from './client/connections.ts'
import { namedForModels } from './listing/model-names.ts'
import { approveStored } from './listing/stored-listing.ts'
import {
  deleteServer,
  findServer,
  findTool,
  listOffered,
  listServers,
  listTools,
  parametersOf,
  type ServerRow,
  toServer,
} from './mcp.repository.ts'
import type { Approval, McpServer, ServerListQuery, ToolListQuery } from './mcp.schema.ts'
import { type McpLimits, mcpLimits } from './mcp-limits.ts'
import { createRegistering } from './register-server.ts'
import { createServerAccess, type ServerAccess, ServerUnusable } from './server-access.ts'
import { createServerListing, type Listing, type ServerListing } from './server-listing.ts'
import type { ToolResult } from './tool-result.ts'

interface Dependencies {
  agentSecrets: AgentSecrets
  /** The guard's `fetch`: the only way to servers. */
  outboundFetch: typeof fetch
  /** Name and version of this program for servers. */
  version: string
  clock: Clock
  ids: Ids
  log: Log
  limits?: McpLimits
}

/** A callable tool, or the reason as a sentence. */
export type FoundTool =
  | { tool: { name: string; description: string; parameters: ToolParameters; serverUrl: string } }
  | { problem: string }

interface OfferOptions {
  taken?: ReadonlySet<string>
  except?: readonly { serverId: string; toolName: string }[]
}

export function createMcpService(dependencies: Dependencies) {
  const { limits = mcpLimits } = dependencies
  const connections = createConnections(limits)
  const listing = createServerListing({ ...dependencies, listMs: limits.listMs })
  const access = createServerAccess({ ...dependencies, limits, connections, listing })
  return {
    ...manageServers({ ...dependencies, connections, listing, access }),
    ...manageTools(access),
    ...offerTools(access),

    /** Closes every connection; must be called before the guard is closed. */
    close: () => connections.close(),
  }
}

export type McpService = ReturnType<typeof createMcpService>

interface ServerDependencies extends Dependencies {
  connections: Connections
  listing: ServerListing
  access: ServerAccess
}

function manageServers(dependencies: ServerDependencies) {
  return {
    /** Registers a server after contacting it: this approves its current tools. */
    register: createRegistering(dependencies),

    list: (agent: AgentHandle, query: ServerListQuery) => listServers(agent.db, query),

    get: async (agent: AgentHandle, id: string): Promise<McpServer> =>
      toServer(await requireServer(agent, id)),

    async remove(agent: AgentHandle, id: string): Promise<void> {
      const { secret_set } = await requireServer(agent, id)
      const isDeleted = await deleteServer(agent.db, id)
      dependencies.connections.drop(id)
      if (!isDeleted) throw notFound('MCP server')
      await dependencies.agentSecrets.remove(agent.agentId, [secret_set])
    },
  }
}

function manageTools(access: ServerAccess) {
  return {
    /** Returns the server's current tools, or those of its last answer. */
    async listTools(agent: AgentHandle, id: string, query: ToolListQuery) {
      const row = await requireServer(agent, id)
      const work = {
        wantsList: true,
        signal: agent.signal,
        run: async ({ listing }: { listing: Listing | undefined }) => listing?.skipped ?? [],
      }
      const skipped = await access.use(agent, row, work).catch((error: unknown) => {
        if (error instanceof ServerUnusable) return []
        throw error
      })
      return { ...(await listTools(agent.db, id, query)), skipped }
    },

    /** Approves tools of the last listing; returns the number of newly approved ones. */
    async approve(agent: AgentHandle, id: string, approval: Approval): Promise<number> {
      await requireServer(agent, id)
      const outcome = await inTransaction(agent.db, transaction =>
        approveStored(transaction, id, approval?.tools),
      )
      if (outcome.kind === 'approved') return outcome.count
      if (outcome.kind === 'missing') throw notFound(`Tool "${outcome.name}"`)
      throw conflict(
        `The tool "${outcome.name}" is not what it was when you looked at it. List the tools and look at it again.`,
      )
    },
  }
}

function offerTools(access: ServerAccess) {
  /** Calls an approved tool. @throws AppError with a sentence that a model may read. */
  async function call(
    agent: AgentHandle,
    serverId: string,
    toolName: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const row = await requireServer(agent, serverId)
    return callApprovedTool(access, { agent, row, toolName, input, signal })
  }

  return {
    call,

    /** Returns a definition for an agent's tool that calls this one, or a reason, without any contact. */
    async find(agent: AgentHandle, serverId: string, toolName: string): Promise<FoundTool> {
      const row = await findServer(agent.db, serverId)
      if (row === undefined) return { problem: 'The agent has no MCP server with this id.' }
      const judged = judgeTool(row.name, toolName, await findTool(agent.db, serverId, toolName))
      if ('problem' in judged) return judged
      const { name, description, parameters } = judged.tool
      return {
        tool: { name, description, parameters: parametersOf(parameters), serverUrl: withoutQuery(row.url) },
      }
    },

    /**
     * Returns the tools that models may call: approved versions of all servers' tools, without contacting the
     * servers. None gets a name in `taken`; tools in `except` are offered in another way, or not at all.
     */
    async tools(agent: AgentHandle, { taken = new Set(), except = [] }: OfferOptions = {}): Promise<Tool[]> {
      const left = new Set(except.map(({ serverId, toolName }) => `${serverId} ${toolName}`))
      const offered = (await listOffered(agent.db)).filter(
        ({ serverId, name }) => !left.has(`${serverId} ${name}`),
      )
      return namedForModels(offered, taken).map(({ tool, name }) => ({
        name,
        description: tool.description,
        ...fromForeignSchema(parametersOf(tool.parameters)),
        egress: () => ({ to: withoutQuery(tool.serverUrl), carries: 'arguments' }),
        execute: (input, signal) => call(agent, tool.serverId, tool.name, input, signal),
      }))
    },
  }
}

async function requireServer(agent: AgentHandle, id: string): Promise<ServerRow> {
  const row = await findServer(agent.db, id)
  if (row === undefined) throw notFound('MCP server')
  return row
}
