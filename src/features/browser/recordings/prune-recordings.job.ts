import type { Clock } from '#platform/clock.ts'
import { type JobHandler, JobYields } from '#platform/jobs/jobs.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { deleteRecordings, findRecording } from './recordings.repository.ts'

export const pruneJob = 'browser.recordings.prune'
/** Retention of a recording after its end (ms). */
export const keptMs = 30 * 86_400_000

export function createPruneJob(clock: Clock): JobHandler<AgentHandle> {
  return {
    lane: 'timers',
    makesRoom: true,
    async run({ agent, payload }) {
      const { sessionId } = payload as { sessionId: string }
      const recording = await findRecording(agent.db, sessionId)
      if (recording === undefined) return
      const until = Date.parse(recording.ended_at) + keptMs
      if (clock.now() < until) throw new JobYields({ until })
      await inTransaction(agent.db, transaction => deleteRecordings(transaction, [sessionId]))
      await agent.shrink()
    },
  }
}
