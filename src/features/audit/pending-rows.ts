import type { Kysely } from 'kysely'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { addEntry } from '#platform/jobs/outbox.ts'
import type { ValueOf } from '#platform/prepared-query.ts'
import { prepareQuery } from '#platform/prepared-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentDatabase, PlatformTables } from '#storage/tables.ts'
import type { AuditRow } from './audit.schema.ts'
import { insertAuditRows } from './audit.service.ts'

export type RowsUnderWay = ReturnType<typeof createRowsUnderWay>

/** The job that moves all rows of an agent that wait. */
export const rowJob = 'audit'
export const rowLane = 'timers'
const delayMs = 3000
const rowsMoved = 200

const insertWaiting = prepareQuery((db: AgentDatabase, value: ValueOf<'payload'>) =>
  db.insertInto('audit_rows').values({ payload: value('payload') }),
)

/** Rows on their way from the databases of agents, where they are committed with the changes, to that of the platform. */
export function createRowsUnderWay({ platform, wakeUps, clock, log, isExclusive }: Infrastructure) {
  /** When an agent is woken up, until its rows are moved. */
  const dueTimes = new Map<string, number>()
  /** When an agent's job begins, from its commit on; it moves what is committed until then, so further rows need none. */
  const jobTimes = new Map<string, number>()

  return {
    /** Returns when the job begins that it has left with the row; undefined if one waits. */
    async leave(transaction: AgentDatabase, agentId: string, row: AuditRow): Promise<number | undefined> {
      await insertWaiting(transaction, { payload: JSON.stringify(row) })
      const now = clock.now()
      if ((jobTimes.get(agentId) ?? 0) > now) return undefined
      const job = { id: row.id, name: rowJob, lane: rowLane, key: null, payload: null, now } as const
      await addEntry(transaction, { ...job, runAt: now + delayMs })
      return now + delayMs
    },

    /** To be called when a row has been committed. A wake-up that fails is made up for when the agent is opened. */
    async wake(agentId: string, jobTime: number | undefined): Promise<void> {
      // Beside other processes, a job could begin while a transaction that has seen it wait is not committed yet.
      if (jobTime !== undefined && isExclusive) jobTimes.set(agentId, jobTime)
      const dueAt = clock.now() + delayMs
      if ((dueTimes.get(agentId) ?? 0) > dueAt - delayMs) return
      dueTimes.set(agentId, dueAt)
      const warn = (error: unknown) => log.warn({ err: error, agentId }, 'a wake-up for the audit log failed')
      await wakeUps[rowLane].pull(agentId, dueAt).catch(warn)
    },

    /** Moves all that wait; each arrives once. */
    async collect({ agentId, db }: Pick<AgentHandle, 'agentId' | 'db'>): Promise<void> {
      dueTimes.delete(agentId)
      // Before the rows are read: the one connection to the database reads them after every transaction that has seen a job wait.
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
