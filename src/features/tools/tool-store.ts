import type { AppError } from '#platform/errors.ts'
import { conflict, notFound } from '#platform/errors.ts'
import { inTransaction } from '#platform/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/agent-secrets.ts'
import { protectConfiguration } from './protect-configuration.ts'
import type { StoredTool } from './tools.repository.ts'
import { findTool, isNameTaken, putTools } from './tools.repository.ts'
import type { AgentTool } from './tools.schema.ts'

/** Stores tools in the agent's database and their secrets apart from it. */
export function createToolStore(agentSecrets: AgentSecrets) {
  /** The set of secrets that the row had until now. */
  function write({ db }: AgentHandle, tool: StoredTool, isNew: boolean): Promise<string | null> {
    return inTransaction(db, async transaction => {
      const replaced = await findTool(transaction, tool.id)
      if (!isNew && replaced === undefined) throw notFound('Tool')
      if (await isNameTaken(transaction, tool)) throw nameTaken(tool)
      await putTools(transaction, [tool])
      return replaced?.secretSet ?? null
    })
  }

  return {
    /**
     * @param before what stands in its place, whose secrets it may keep.
     * @throws CONFLICT for a name that another tool of the cluster has, NOT_FOUND if `before` was deleted meanwhile.
     */
    async put(agent: AgentHandle, tool: AgentTool, before?: StoredTool): Promise<AgentTool> {
      const kept = await agentSecrets.read(agent.agentId, before?.secretSet ?? null)
      const { configuration, secrets } = protectConfiguration(tool, before, kept)
      const secretSet = await agentSecrets.write(agent.agentId, secrets)
      const stored = { ...tool, configuration, secretSet }
      try {
        const replaced = await write(agent, stored, before === undefined)
        await agentSecrets.remove(agent.agentId, [replaced])
      } catch (error) {
        await agentSecrets.remove(agent.agentId, [secretSet])
        throw error
      }
      return toPublic(stored)
    },
  }
}

export function toPublic({ secretSet: _, ...tool }: StoredTool): AgentTool {
  return tool
}

function nameTaken({ name, cluster }: AgentTool): AppError {
  const place = cluster === undefined ? 'among the tools without a cluster' : `in the cluster “${cluster}”`
  return conflict(
    `There is a tool named “${name}” ${place} already. Choose another name, or update that one.`,
  )
}
