import { voidLeases } from '#platform/jobs/outbox.ts'
import type { OnOpen } from '../agent-databases.ts'
import { waitingHolder } from '../tables/chat.ts'

/**
 * Frees the jobs, conversations and browser sessions that a predecessor held when it died: leases of any
 * other process, because only one process uses the data.
 */
export function createLeaseVoiding(instanceId: string): OnOpen {
  return async ({ db }) => {
    await voidLeases(db, instanceId)
    await db
      .updateTable('conversations')
      .set({ lock_holder: null, lock_expires_at: null })
      .where('lock_holder', 'not in', [instanceId, waitingHolder])
      .execute()
    await db
      .updateTable('browser_sessions')
      .set({ lease_until: null })
      .where('instance_id', '!=', instanceId)
      .where('lease_until', 'is not', null)
      .execute()
  }
}
