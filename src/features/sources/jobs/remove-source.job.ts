import { type IndexingService, newRun } from '#features/knowledge/indexing.service.ts'
import type { JobHandler } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { deleteSource, findRemoved } from '../sources.repository.ts'
import { sourceIdOf } from './source-jobs.ts'

interface Dependencies {
  indexing: Pick<IndexingService, 'remove'>
  agentSecrets: Pick<AgentSecrets, 'remove'>
}

/** Removes a hidden source: its chunks, file and secrets, and last its row, so that the job can run again. */
export function createRemoveSourceJob({ indexing, agentSecrets }: Dependencies): JobHandler<AgentHandle> {
  return {
    lane: 'documents',
    // Enough for about a day: a broken disk or bucket is not repaired in minutes.
    maxAttempts: 10,
    makesRoom: true,
    async run({ agent, payload, signal }) {
      const sourceId = sourceIdOf(payload)
      const removed = await findRemoved(agent.db, sourceId)
      if (removed === undefined) return
      await indexing.remove(newRun(agent, sourceId), signal)
      if (removed.file_path !== null) await agent.files.remove(removed.file_path)
      await agentSecrets.remove(agent.agentId, [removed.secret_set])
      await deleteSource(agent.db, sourceId)
    },
  }
}
