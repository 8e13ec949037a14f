import { type ByLane, lanes } from '#platform/jobs/lanes.ts'
import { findDue } from '#platform/jobs/leasing.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import type { OnOpen } from './agent-databases.ts'

const noneRuns = { ids: [], keys: [] }

/**
 * Restores lost wake-ups: a power cut can lose the last commits of one database only, and an agent can be
 * restored on its own.
 */
export function wakeLostWork(wakeUps: ByLane<Pick<WakeUps, 'pull'>>): OnOpen {
  return async ({ agentId, db }) => {
    for (const lane of lanes) {
      const { next, suspects } = await findDue(db, { lane, now: 0, limit: 0, running: noneRuns })
      const dueAt = Math.min(next ?? Infinity, suspects.next ?? Infinity)
      if (Number.isFinite(dueAt)) await wakeUps[lane].pull(agentId, dueAt)
    }
  }
}
