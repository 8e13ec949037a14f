import type { Kysely } from 'kysely'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { OutboxDatabase } from '#platform/jobs/jobs.ts'
import { addEntry } from '#platform/jobs/outbox.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AuditRow } from './audit.schema.ts'
import { insertAuditRow } from './audit.service.ts'

export type RowsUnderWay = ReturnType<typeof createRowsUnderWay>

/** Entries of agents' outboxes, of which the first that is due takes all others with it. */
export const rowJob = 'audit'
export const rowLane = 'timers'
const delayMs = 3000
const rowsMoved = 200

/** Rows on their way from the databases of agents, where they are committed with the changes, to that of the platform. */
export function createRowsUnderWay({ platform, wakeUps, clock, log }: Infrastructure) {
  /** When an agent is woken up, until it has been. */
  const dueTimes = new Map<string, number>()
  return {
    async leave(transaction: OutboxDatabase, payload: AuditRow): Promise<void> {
      const now = clock.now()
      const entry = {
        id: payload.id,
        name: rowJob,
        lane: rowLane,
        key: null,
        payload,
        runAt: now + delayMs,
        now,
      } as const
      await addEntry(transaction, entry)
    },

    /** To be called when a row has been committed. A wake-up that fails is made up for when the agent is opened. */
    async wake(agentId: string): Promise<void> {
      const dueAt = clock.now() + delayMs
      if ((dueTimes.get(agentId) ?? 0) > dueAt - delayMs) return
      dueTimes.set(agentId, dueAt)
      const warn = (error: unknown) => log.warn({ err: error, agentId }, 'a wake-up for the audit log failed')
      await wakeUps[rowLane].pull(agentId, dueAt).catch(warn)
    },

    /** Moves all that wait; each arrives once. */
    async collect({ agentId, db }: Pick<AgentHandle, 'agentId' | 'db'>): Promise<void> {
      dueTimes.delete(agentId)
      const waiting = db.selectFrom('outbox').select(['id', 'payload']).where('lane', '=', rowLane)
      const some = waiting.where('failed_at', 'is', null).where('name', '=', rowJob).limit(rowsMoved)
      for (let found = await some.execute(); found.length > 0; found = await some.execute()) {
        const move = async (
          transaction: Kysely<typeof platform extends Kysely<infer Tables> ? Tables : never>,
        ) => {
          for (const { payload } of found) await insertAuditRow(transaction, JSON.parse(payload))
        }
        await inTransaction(platform, move, 'read committed')
        await db
          .deleteFrom('outbox')
          .where(
            'id',
            'in',
            found.map(({ id }) => id),
          )
          .execute()
      }
    },
  }
}
