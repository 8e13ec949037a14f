import { nextDue, voidLeases } from '#platform/jobs/outbox.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import type { OnOpen } from '../agent-databases.ts'

interface Needs {
  wakeUps: Pick<WakeUps, 'pull'>
  /** Of this process; leases of any other are those of a dead predecessor, since only one process uses the data. */
  instanceId: string
}

/**
 * Frees the jobs and conversations that a predecessor held when it died. Work whose wake-up is lost, as a power cut
 * may lose the last commits of one database but not of another, is woken up anew.
 */
export function createLeaseVoiding({ wakeUps, instanceId }: Needs): OnOpen {
  return async ({ agentId, db }) => {
    await voidLeases(db, instanceId)
    await db
      .updateTable('conversations')
      .set({ lock_holder: null, lock_expires_at: null })
      .where('lock_holder', '!=', instanceId)
      .execute()
    const dueAt = await nextDue(db, { ids: [], keys: [] })
    if (dueAt !== undefined) await wakeUps.pull(agentId, dueAt)
  }
}
