import type { Clock } from '#platform/clock.ts'
import type { JobHandler, NewJob, Transact } from '#platform/jobs/jobs.ts'
import { JobYields } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { deleteExecutions, listSuperfluous, oldestEnd } from './executions.repository.ts'
import type { WorkflowEvents } from './workflows.events.ts'

export const pruneJob = 'executions.prune'
/** Time for whoever started an execution to read its end, even if it is not kept. */
const graceMs = 60_000
const dayMs = 86_400_000
/** Portions until other jobs get their turn. */
const portions = 20

interface Dependencies {
  transact: Transact<WorkflowEvents>
  kept: { days: number; count: number }
  clock: Clock
}

/** Looks for what need not be kept, soon after an execution has ended. */
export function pruneSoon(now: number): NewJob & { runAt: number } {
  return { name: pruneJob, key: pruneJob, payload: { isLater: false }, runAt: now + graceMs }
}

/** Deletes finished executions that are too old or too many, in portions that keep nobody waiting. */
export function createPruneExecutions({ transact, kept, clock }: Dependencies): JobHandler<AgentHandle> {
  return {
    lane: 'timers',
    makesRoom: true,
    async run({ agent, payload }) {
      const { isLater } = payload as { isLater: boolean }
      const limits = {
        endedBefore: new Date(clock.now() - kept.days * dayMs).toISOString(),
        readBefore: new Date(clock.now() - graceMs).toISOString(),
        count: kept.count,
      }
      for (let portion = 0; portion < portions; portion += 1) {
        const ids = await listSuperfluous(agent.db, limits)
        if (ids.length > 0) await deleteExecutions(agent.db, ids)
        else return await comeBack(agent, isLater)
      }
      throw new JobYields()
    },
  }

  /** When the oldest is too old, even if nothing is executed until then. */
  async function comeBack(agent: AgentHandle, isLater: boolean): Promise<void> {
    const oldest = await oldestEnd(agent.db)
    if (oldest === undefined) return
    const until = Date.parse(oldest) + kept.days * dayMs
    if (isLater) throw new JobYields({ until })
    const job = { name: pruneJob, key: `${pruneJob}@later`, payload: { isLater: true }, runAt: until }
    await transact(agent, async (_, outbox) => void (await outbox.add(job)))
  }
}
