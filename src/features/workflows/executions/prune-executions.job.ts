import type { Clock } from '#platform/clock.ts'
import { type JobHandler, JobYields, type Outbox } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { deleteExecutions, findOldestEnd, listSuperfluous } from '../rows/executions.repository.ts'
import { deleteSomeResults } from '../rows/node-results.repository.ts'

export const pruneJob = 'executions.prune'
/** Time for the caller of an execution to read its end, even if it is not kept. */
const graceMs = 60_000
const dayMs = 86_400_000
const portion = 20
/** Max batches of a run, after which other jobs run. */
const mostPortions = 20

interface Dependencies {
  kept: { days: number; count: number }
  clock: Clock
}

/** Deletes finished executions that are too old or too many, in short batches. */
export function createPruning({ kept, clock }: Dependencies) {
  /** The minute of the last job added, by agent: further ends in it add none. */
  const requested = new Map<string, number>()

  const job: JobHandler<AgentHandle> = {
    lane: 'timers',
    makesRoom: true,
    async run({ agent, key }) {
      const now = clock.now()
      const retention = {
        after: new Date(now - kept.days * dayMs).toISOString(),
        until: new Date(now - graceMs).toISOString(),
        count: kept.count,
      }
      let portions = 0
      for (; portions < mostPortions; portions += 1) {
        const ids = await listSuperfluous(agent.db, retention, portion)
        if (ids.length === 0) break
        while (await deleteSomeResults(agent.db, ids));
        await deleteExecutions(agent.db, ids)
      }
      if (portions > 0) await agent.shrink()
      if (portions === mostPortions) throw new JobYields()
      requested.delete(agent.agentId)
      if (key !== pruneJob) return
      const oldest = await findOldestEnd(agent.db)
      // The oldest execution is due then even if nothing is executed until that time.
      if (oldest !== null) throw new JobYields({ until: Date.parse(oldest) + kept.days * dayMs })
    },
  }

  return {
    job,

    /**
     * Adds, in the ending transaction, one job that runs soon and one for the age limit. The key of the first
     * names the minute, so that no end, here or in another process, postpones an earlier job.
     */
    async soon({ outbox, agentId }: { outbox: Pick<Outbox, 'add'>; agentId: string }) {
      const now = clock.now()
      const minute = Math.floor(now / graceMs)
      if (requested.get(agentId) === minute) return
      const job = { name: pruneJob, payload: null }
      await outbox.add({ ...job, key: `${pruneJob}@${minute}`, runAt: (minute + 2) * graceMs })
      await outbox.add({ ...job, key: pruneJob, runAt: now + kept.days * dayMs })
      requested.set(agentId, minute)
    },
  }
}
