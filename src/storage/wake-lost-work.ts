import { nextDue } from '#platform/jobs/outbox.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import type { OnOpen } from './agent-databases.ts'

/**
 * Restores lost wake-ups: a power cut may lose the last commits of one database but not of another, and an agent may be
 * restored on its own.
 */
export function wakeLostWork(wakeUps: Pick<WakeUps, 'pull'>): OnOpen {
  return async ({ agentId, db }) => {
    const dueAt = await nextDue(db, { ids: [], keys: [] })
    if (dueAt !== undefined) await wakeUps.pull(agentId, dueAt)
  }
}
