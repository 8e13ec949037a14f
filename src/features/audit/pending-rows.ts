import type { Kysely } from 'kysely'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { addEntry } from '#platform/jobs/outbox.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentDatabase, PlatformTables } from '#storage/tables.ts'
import type { AuditRow } from './audit.schema.ts'
import { insertAuditRows } from './audit.service.ts'

export type PendingRows = ReturnType<typeof createPendingRows>

/** The job that moves all waiting rows of an agent. */
export const rowJob = 'audit'
export const rowLane = 'timers'
const delayMs = 3000
const rowsMoved = 200

const insertWaiting = prepareQuery((db: AgentDatabase, value: ValueOf<'payload'>) =>
  db.insertInto('audit_rows').values({ payload: value('payload') }),
)

/** Moves rows from agents' databases, where they are committed with the changes, to the platform's. */
export function createPendingRows({ platform, wakeUps, clock, log, isExclusive }: Infrastructure) {
  /** Times of agents' wake-ups, until their rows are moved. */
  const dueTimes = new Map<string, number>()
  /** Start times of committed jobs by agent; a job moves all rows until then, so these need no other job. */
  const jobTimes = new Map<string, number>()

  return {
    /** Returns the start of the job that was added with the row; undefined if one waits already. */
    async leave(transaction: AgentDatabase, agentId: string, row: AuditRow): Promise<number | undefined> {
      await insertWaiting(transaction, { payload: JSON.stringify(row) })
      const now = clock.now()
      if ((jobTimes.get(agentId) ?? 0) > now) return undefined
      const job = { id: row.id, name: rowJob, lane: rowLane, key: null, payload: null, now } as const
      await addEntry(transaction, { ...job, runAt: now + delayMs })
      return now + delayMs
    },

    /** Must be called after a row's commit. Opening the agent later makes up for a failed wake-up. */
    async wake(agentId: string, jobTime: number | undefined): Promise<void> {
      // With other processes, a job could begin before the commit of a transaction that has seen it wait.
      if (jobTime !== undefined && isExclusive) jobTimes.set(agentId, jobTime)
      const dueAt = clock.now() + delayMs
      if ((dueTimes.get(agentId) ?? 0) > dueAt - delayMs) return
      dueTimes.set(agentId, dueAt)
      const warn = (error: unknown) => log.warn({ err: error, agentId }, 'a wake-up for the audit log failed')
      await wakeUps[rowLane].pull(agentId, dueAt).catch(warn)
    },

    /** Moves all waiting rows; each arrives once. */
    async collect({ agentId, db }: Pick<AgentHandle, 'agentId' | 'db'>): Promise<void> {
      dueTimes.delete(agentId)
      // Deleted first: the only database connection then reads after all transactions that saw a job wait.
      jobTimes.delete(agentId)
      const waiting = db
        .selectFrom('outbox')
        .select('id')
        .where('lane', '=', rowLane)
        .where('name', '=', rowJob)
      const jobs = (await waiting.where('failed_at', 'is', null).execute()).map(({ id }) => id)
      const some = db.selectFrom('audit_rows').selectAll().orderBy('number').limit(rowsMoved)
      for (let found = await some.execute(); found.length > 0; found = await some.execute()) {
        const rows = found.map(({ payload }) => JSON.parse(payload) as AuditRow)
        const move = (transaction: Kysely<PlatformTables>) => insertAuditRows(transaction, rows)
        await inTransaction(platform, move, 'read committed')
        const moved = found.map(({ number }) => number)
        await db.deleteFrom('audit_rows').where('number', 'in', moved).execute()
      }
      while (jobs.length > 0)
        await db.deleteFrom('outbox').where('id', 'in', jobs.splice(0, rowsMoved)).execute()
    },
  }
}
