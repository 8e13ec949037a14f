import type { BuiltInsOf } from '#features/collect-tools.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { conflict, invalid, notFound } from '#platform/errors.ts'
import type { Page } from '#platform/http/lists/list-query.ts'
import type { Ids } from '#platform/ids.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { Sandbox } from '#sandbox/javascript/sandbox.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { type JavascriptConfiguration, type McpConfiguration, requireConfiguration } from './configuration.ts'
import { deleteCredentials, listCredentials } from './credentials.repository.ts'
import type { FindMcpTool, OfferedTools } from './offered-tools.ts'
import { testTool } from './test-tool.ts'
import { createToolStore, ToolChanged, toPublic } from './tool-store.ts'
import {
  deleteTool,
  deleteTools,
  findTool,
  listCluster,
  listTools,
  type StoredTool,
} from './tools.repository.ts'
import type { AgentTool, ListedTool, NewTool, ToolChanges, ToolListQuery } from './tools.schema.ts'

/** Attempts of an update that conflicts with others. */
const maxAttempts = 10

interface Dependencies {
  agentSecrets: AgentSecrets
  offered: OfferedTools
  findMcpTool: FindMcpTool
  builtInsOf: BuiltInsOf
  sandbox: Pick<Sandbox, 'check'>
  clock: Clock
  ids: Ids
}

const defaults = { description: '', isEnabled: true, requiresApproval: false, approvers: 'admins' } as const

function toListed({
  tool,
  isEnabled,
  requiresApproval,
}: Awaited<ReturnType<BuiltInsOf>>[number]): ListedTool {
  const { name, description } = tool
  const own = { id: name, name, description, type: 'builtin' as const, configuration: {} }
  return { ...defaults, ...own, isEnabled, requiresApproval }
}

/** True for a tool that matches the query. Built-in tools have no cluster. */
function fits({ name, description }: ListedTool, { search = '', type, cluster }: ToolListQuery): boolean {
  const words = `${name} ${description}`.toLowerCase()
  return type === undefined && cluster === undefined && words.includes(search.toLowerCase())
}

/** Manages the tools that people add to an agent. */
export function createToolsService({
  agentSecrets,
  offered,
  findMcpTool,
  builtInsOf,
  sandbox,
  clock,
  ids,
}: Dependencies) {
  const store = createToolStore(agentSecrets)

  async function require({ db }: AgentHandle, toolId: string): Promise<StoredTool> {
    const tool = await findTool(db, toolId)
    if (tool === undefined) throw notFound('Tool')
    return tool
  }

  /** @param before the stored tool, whose code is not checked again. */
  async function check(agent: AgentHandle, { type, configuration }: AgentTool, before?: AgentTool) {
    requireConfiguration(type, configuration)
    if (type === 'javascript') await requireSyntax(sandbox, agent.agentId, configuration, before)
    if (type !== 'mcp') return
    const { serverId, toolName } = configuration as McpConfiguration
    const found = await findMcpTool(agent, serverId, toolName)
    if ('problem' in found) throw invalid('configuration', found.problem)
  }

  async function updateOnce(agent: AgentHandle, toolId: string, changes: ToolChanges): Promise<AgentTool> {
    const before = await require(agent, toolId)
    const { cluster, ...others } = changes
    const { cluster: formerCluster, ...rest } = toPublic(before)
    const newCluster = cluster === undefined ? formerCluster : (cluster ?? undefined)
    const tool: AgentTool = {
      ...rest,
      ...others,
      ...(newCluster === undefined ? {} : { cluster: newCluster }),
      updated_at: timestamp(clock),
    }
    if (changes.configuration !== undefined) await check(agent, tool, toPublic(before))
    return store.put(agent, tool, before)
  }

  return {
    async list(agent: AgentHandle, query: ToolListQuery): Promise<Page<ListedTool>> {
      const { rows, meta } = await listTools(agent.db, query)
      const isWanted = query.builtin === true && !query.offset && !query.cursor
      const builtIns = isWanted ? (await builtInsOf(agent)).map(toListed) : []
      return { rows: [...builtIns.filter(tool => fits(tool, query)), ...rows.map(toPublic)], meta }
    },

    find: async (agent: AgentHandle, toolId: string): Promise<AgentTool> =>
      toPublic(await require(agent, toolId)),

    async create(agent: AgentHandle, given: NewTool): Promise<AgentTool> {
      const at = timestamp(clock)
      const tool = { ...defaults, ...given, id: ids.record(), created_at: at, updated_at: at }
      await check(agent, tool)
      return store.put(agent, tool)
    },

    /** Updates the tool. After a concurrent change, the update is applied to its result. */
    async update(agent: AgentHandle, toolId: string, changes: ToolChanges): Promise<AgentTool> {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await updateOnce(agent, toolId, changes)
        } catch (error) {
          if (!(error instanceof ToolChanged)) throw error
          if (attempt === maxAttempts) throw conflict('This tool is being changed by others. Try again.')
        }
      }
    },

    async remove(agent: AgentHandle, toolId: string): Promise<void> {
      const deleted = await inTransaction(agent.db, transaction => deleteTool(transaction, toolId))
      if (deleted === undefined) throw notFound('Tool')
      await agentSecrets.remove(agent.agentId, [deleted.secretSet])
    },

    /** Deletes the tools of a cluster with its credentials; returns the number of tools. */
    async removeCluster(agent: AgentHandle, cluster: string): Promise<number> {
      const { count, secretSets } = await inTransaction(agent.db, async transaction => {
        const tools = await listCluster(transaction, cluster)
        const credentials = await listCredentials(transaction, cluster)
        if (tools.length === 0 && credentials.length === 0) throw notFound('Cluster')
        await deleteTools(transaction, cluster)
        await deleteCredentials(transaction, cluster)
        const secretSets = [...tools, ...credentials].map(({ secretSet }) => secretSet)
        return { count: tools.length, secretSets }
      })
      await agentSecrets.remove(agent.agentId, secretSets)
      return count
    },

    /** Calls the tool, whether it is enabled or not; errors are part of the result. */
    test: async (agent: AgentHandle, toolId: string, given: Record<string, unknown>, signal: AbortSignal) =>
      testTool(await offered.one(agent, await require(agent, toolId)), given, signal),
  }
}

export type ToolsService = ReturnType<typeof createToolsService>

/** @throws VALIDATION_ERROR with the syntax error of code, unless it was stored before. */
async function requireSyntax(
  sandbox: Pick<Sandbox, 'check'>,
  agentId: string,
  configuration: AgentTool['configuration'],
  before: AgentTool | undefined,
): Promise<void> {
  const codeOf = (given: AgentTool['configuration']) => (given as Partial<JavascriptConfiguration>).code
  const code = codeOf(configuration) ?? ''
  if (before?.type === 'javascript' && codeOf(before.configuration) === code) return
  const problem = await sandbox.check(code, agentId)
  if (problem !== undefined) throw invalid('configuration.code', problem)
}
