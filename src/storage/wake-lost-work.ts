import type { ByLane } from '#platform/jobs/lanes.ts'
import { lanes } from '#platform/jobs/lanes.ts'
import { nextDue } from '#platform/jobs/outbox.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import type { OnOpen } from './agent-databases.ts'

const noneRuns = { ids: [], keys: [] }

/**
 * Restores lost wake-ups: a power cut may lose the last commits of one database but not of another, and an agent may be
 * restored on its own.
 */
export function wakeLostWork(wakeUps: ByLane<Pick<WakeUps, 'pull'>>): OnOpen {
  return async ({ agentId, db }) => {
    for (const lane of lanes) {
      const { next, suspect } = await nextDue(db, lane, noneRuns)
      const dueAt = Math.min(next ?? Number.POSITIVE_INFINITY, suspect ?? Number.POSITIVE_INFINITY)
      if (Number.isFinite(dueAt)) await wakeUps[lane].pull(agentId, dueAt)
    }
  }
}
