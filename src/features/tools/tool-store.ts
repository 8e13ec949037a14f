import { isDeepStrictEqual } from 'node:util'
import { type AppError, conflict, notFound } from '#platform/errors.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { protectConfiguration } from './protect-configuration.ts'
import { findTool, isNameTaken, putTools, type StoredTool } from './tools.repository.ts'
import type { AgentTool } from './tools.schema.ts'

/** The tool was changed between being read and written. */
export class ToolChanged extends Error {}

/** Stores tools in the agent's database, and their secrets outside of it. */
export function createToolStore(agentSecrets: AgentSecrets) {
  function write({ db }: AgentHandle, tool: StoredTool, before: StoredTool | undefined): Promise<void> {
    return inTransaction(db, async transaction => {
      const current = await findTool(transaction, tool.id)
      if (before !== undefined && current === undefined) throw notFound('Tool')
      if (JSON.stringify(current) !== JSON.stringify(before)) throw new ToolChanged()
      if (await isNameTaken(transaction, tool)) throw nameTaken(tool)
      await putTools(transaction, [tool])
    })
  }

  return {
    /**
     * @param before the tool that it replaces, whose secrets it can keep.
     * @throws CONFLICT for the name of another tool of the cluster, NOT_FOUND if `before` was deleted in the
     * meantime, ToolChanged if it was changed in the meantime.
     */
    async put(agent: AgentHandle, tool: AgentTool, before?: StoredTool): Promise<AgentTool> {
      const formerSet = before?.secretSet ?? null
      const kept = await agentSecrets.read(agent.agentId, formerSet)
      if (formerSet !== null && Object.keys(kept).length === 0) throw new ToolChanged()
      const { configuration, secrets } = protectConfiguration(tool, before, kept)
      // The old set can still be used by calls in progress.
      const isSame = isDeepStrictEqual({ ...secrets }, { ...kept })
      const secretSet = isSame ? formerSet : await agentSecrets.write(agent.agentId, secrets)
      const stored = { ...tool, configuration, secretSet }
      try {
        await write(agent, stored, before)
      } catch (error) {
        if (!isSame) await agentSecrets.remove(agent.agentId, [secretSet])
        throw error
      }
      if (!isSame) await agentSecrets.remove(agent.agentId, [formerSet])
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
