/** The statements on the outbox of one agent. Times are milliseconds since the epoch. */
import type { ExpressionBuilder, UpdateResult } from 'kysely'
import { maxPause, pausesAfterInterruptions } from './backoff.ts'
import type { OutboxDatabase, OutboxEntry } from './jobs.ts'
import type { Lane } from './lanes.ts'
import type { OutboxTables } from './tables.ts'

export interface NewEntry {
  id: string
  name: string
  lane: Lane
  key: string | null
  payload: unknown
  runAt: number
  now: number
}

/** False, and nothing is added, while an entry with the same key waits or runs. */
export async function addEntry(db: OutboxDatabase, entry: NewEntry): Promise<boolean> {
  const added = await db
    .insertInto('outbox')
    .values(rowOf(entry))
    .onConflict(conflict => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return added !== undefined
}

/**
 * Adds entries, each with a key and due now, to begin after what has been committed so far. One that waits for a later time, or
 * runs, is asked for again instead: as if it were new, but for its id and its lease. One that is about to begin is left alone.
 */
export async function ensureEntries(db: OutboxDatabase, entries: readonly NewEntry[]): Promise<void> {
  const beginning = await db
    .selectFrom('outbox')
    .select('key')
    .where(
      'key',
      'in',
      entries.map(({ key }) => key),
    )
    .where('failed_at', 'is', null)
    .where('attempts', '=', 0)
    .where('run_at', '<=', toText(Math.min(...entries.map(({ runAt }) => runAt))))
    .execute()
  const rows = entries.filter(({ key }) => !beginning.some(entry => entry.key === key)).map(rowOf)
  if (rows.length === 0) return
  await db
    .insertInto('outbox')
    .values(rows)
    .onConflict(conflict =>
      conflict
        .column('key')
        .where('key', 'is not', null)
        .where('failed_at', 'is', null)
        .doUpdateSet(({ ref }) => ({
          payload: ref('excluded.payload'),
          run_at: ref('excluded.run_at'),
          attempts: 0,
          failures: 0,
          created_at: ref('excluded.created_at'),
        })),
    )
    .execute()
}

function rowOf({ id, name, lane, key, payload, runAt, now }: NewEntry) {
  return {
    id,
    name,
    lane,
    key,
    payload: JSON.stringify(payload ?? null),
    run_at: toText(runAt),
    attempts: 0,
    failures: 0,
    created_at: toText(now),
  }
}

/** Removes the entry with this key, even while it runs. Returns its id; undefined if there is none. */
export async function cancelEntry(db: OutboxDatabase, key: string): Promise<string | undefined> {
  const removed = await db
    .deleteFrom('outbox')
    .where('key', '=', key)
    .where('failed_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return removed?.id
}

/** Makes entries of this name that wait for a later time due now; those that run are left alone. Returns whether there were any. */
export async function runEntriesNow(
  db: OutboxDatabase,
  { name, lane, now }: Pick<NewEntry, 'name' | 'lane' | 'now'>,
): Promise<boolean> {
  const soonest = toText(now)
  return await isChanged(
    db
      .updateTable('outbox')
      .set({ run_at: soonest })
      .where('lane', '=', lane)
      .where('name', '=', name)
      .where('failed_at', 'is', null)
      .where('run_at', '>', soonest)
      .where('lease_holder', 'is', null),
  )
}

/** The entries of one agent's lane that this process is running right now; it knows that better than any lease can tell. */
export interface Running {
  ids: readonly string[]
  /** No other entry with one of these keys may begin before the running one has ended, even if that was cancelled. */
  keys: readonly string[]
  /** The only names that may begin; any without it. */
  names?: readonly string[] | undefined
}

export interface Lease {
  lane: Lane
  holder: string
  now: number
  expiresAt: number
  limit: number
  running: Running
}

/** Leases up to `limit` entries that are due and free, or whose holder is dead; the longest due first. */
export async function leaseDue(db: OutboxDatabase, lease: Lease): Promise<OutboxEntry[]> {
  const { lane, holder, expiresAt, limit, running } = lease
  const now = toText(lease.now)
  const { free, fresh, leased: taken } = candidates(db, lane, running)
  const first = (found: typeof free) =>
    db
      .selectFrom(found.select(['id', 'run_at']).orderBy('run_at').orderBy('id').limit(limit).as('found'))
      .selectAll()
  const due = first(free.where('run_at', '<=', now))
    .union(first(fresh))
    .union(first(taken.where('lease_expires_at', '<=', now).where('run_at', '<=', now)))
    .orderBy('run_at')
    .orderBy('id')
    .limit(limit)
  const leased = await db
    .updateTable('outbox')
    .set(old => ({
      lease_holder: holder,
      lease_expires_at: toText(expiresAt),
      attempts: old('attempts', '+', 1),
      run_at: unlessItEnds(old, lease.now),
    }))
    .where('id', 'in', db.selectFrom(due.as('due')).select('id'))
    // Checked again, since two processes that lease at the same time may have found the same entries.
    .where(isFree(now))
    .returningAll()
    .execute()
  return leased.toSorted((one, other) => compare(one.run_at, other.run_at) || compare(one.id, other.id))
}

/**
 * When an entry that is leased now would run again if its process died in this run: as before after the first such
 * interruption, and later each time after that. So the next process does other things before it runs what may have killed
 * the last one, and a service that is killed repeatedly for another reason does not use up a job's interruptions.
 */
function unlessItEnds(old: ExpressionBuilder<OutboxTables, 'outbox'>, now: number) {
  const interruptions = old('attempts', '-', old.ref('failures'))
  const asBefore = old.case().when(interruptions, '<', 1).then(old.ref('run_at'))
  return pausesAfterInterruptions
    .reduce(
      (cases, pause, index) => cases.when(interruptions, '<', index + 2).then(toText(now + pause)),
      asBefore,
    )
    .else(toText(now + maxPause))
    .end()
}

/**
 * When to look into the outbox again: the earliest time at which an entry that is not running here is due, or the lease of
 * another holder ends. Undefined if there is none.
 */
export async function nextDue(db: OutboxDatabase, lane: Lane, running: Running): Promise<number | undefined> {
  const { free, fresh, leased } = candidates(db, lane, running)
  const first = (found: typeof free) => found.select('run_at').orderBy('run_at').limit(1)
  const { fresh_run_at, free_due, leased_due } = await db
    .selectNoFrom([
      first(fresh).as('fresh_run_at'),
      first(free).as('free_due'),
      leased.select(leaseEnds).as('leased_due'),
    ])
    .executeTakeFirstOrThrow()
  if (fresh_run_at !== null) return 0
  const times = [free_due, leased_due].flatMap(time => (time === null ? [] : Date.parse(time)))
  return times.length === 0 ? undefined : Math.min(...times)
}

/** The earliest time at which an entry would run whose holder dies now. */
function leaseEnds({ fn, eb }: ExpressionBuilder<OutboxTables, 'outbox'>) {
  const isLeased = eb('lease_expires_at', '>', eb.ref('run_at'))
  const dueAt = eb.case().when(isLeased).then(eb.ref('lease_expires_at')).else(eb.ref('run_at')).end()
  return fn.min(dueAt).as('due_at')
}

/**
 * The entries of a lane that may run here, now or later. Each kind has an index of its own, in whose condition its terms
 * are: so a look reads what is due, and none of the many that wait.
 */
function candidates(db: OutboxDatabase, lane: Lane, { ids, keys, names }: Running) {
  const entries = db
    .selectFrom('outbox')
    .where('lane', '=', lane)
    .where('failed_at', 'is', null)
    .$if(names !== undefined, query => query.where('name', 'in', names ?? []))
    .$if(ids.length > 0, query => query.where('id', 'not in', ids))
    .$if(keys.length > 0, query =>
      query.where(({ or, eb }) => or([eb('key', 'is', null), eb('key', 'not in', keys)])),
    )
  const free = entries.where('lease_holder', 'is', null)
  return {
    free,
    /**
     * Those that were to run at once, and have not begun yet: they are due whatever the time is, since the clock may have
     * been set back meanwhile.
     */
    fresh: free.where(({ eb }) => eb('attempts', '=', eb.lit(0))).whereRef('run_at', '<=', 'created_at'),
    leased: entries.where('lease_holder', 'is not', null),
  }
}

function isFree(now: string) {
  return ({ or, eb }: ExpressionBuilder<OutboxTables, 'outbox'>) =>
    or([eb('lease_holder', 'is', null), eb('lease_expires_at', '<=', now)])
}

/** Frees at once what a predecessor leased. Call it only if the predecessor is certainly dead. */
export async function voidLeases(db: OutboxDatabase, holder: string): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ lease_holder: null, lease_expires_at: null })
    .where('lease_holder', 'is not', null)
    .where('failed_at', 'is', null)
    .where('lease_holder', '!=', holder)
    .execute()
}

interface Lessee {
  id: string
  holder: string
}

/** An entry as `holder` has leased it. */
export interface Held extends Lessee {
  attempts: number
}

/** False if it is no longer held. */
export async function extendLease(db: OutboxDatabase, held: Lessee, expiresAt: number): Promise<boolean> {
  return await isChanged(heldEntry(db, held).set({ lease_expires_at: toText(expiresAt) }))
}

/** The work is done; the entry is removed. */
export async function completeEntry(db: OutboxDatabase, held: Held): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('outbox')
    .where('id', '=', held.id)
    .where('lease_holder', '=', held.holder)
    .where('attempts', '=', held.attempts)
    .executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) await release(db, held)
}

/** Counts a run that ended in an error, unless the entry was asked for again, and so begins anew; the lease goes on. */
export async function recordFailure(db: OutboxDatabase, held: Held, error: string): Promise<void> {
  await runOf(db, held)
    .set(old => ({ failures: old('failures', '+', 1), last_error: error }))
    .execute()
}

export async function postponeEntry(db: OutboxDatabase, held: Held, runAt: number): Promise<void> {
  await endRun(db, held, runOf(db, held).set({ run_at: toText(runAt), ...unleased }))
}

/** Returns an entry whose run was stopped through no fault of its own, as if it had not begun. */
export async function returnEntry(db: OutboxDatabase, held: Held, now: number): Promise<void> {
  const soonest = toText(now)
  const returned = runOf(db, held).set(old => ({
    attempts: old('attempts', '-', 1),
    run_at: old.case().when('run_at', '>', soonest).then(soonest).else(old.ref('run_at')).end(),
    ...unleased,
  }))
  await endRun(db, held, returned)
}

/**
 * Puts an entry behind those that are due at `runAt`, as if it had not begun. Since it has made progress, its failures are
 * forgotten.
 */
export async function requeueEntry(db: OutboxDatabase, held: Held, runAt: number): Promise<void> {
  const requeued = runOf(db, held).set(old => ({
    attempts: old(old('attempts', '-', old.ref('failures')), '-', 1),
    failures: 0,
    // A millisecond later, so that what becomes due in this one goes first.
    run_at: toText(runAt + 1),
    ...unleased,
  }))
  await endRun(db, held, requeued)
}

const failedEntriesKeptMs = 30 * 24 * 3_600_000

/** Keeps the entry for people to see, never to run again, and removes those that have been kept long enough. */
export async function failEntry(db: OutboxDatabase, held: Held, now: number): Promise<void> {
  await db
    .deleteFrom('outbox')
    .where('failed_at', '<', toText(now - failedEntriesKeptMs))
    .execute()
  await endRun(db, held, runOf(db, held).set({ failed_at: toText(now), ...unleased }))
}

/** An entry that was asked for again while it ran only becomes free, and so runs once more. */
async function endRun(db: OutboxDatabase, held: Held, ended: Update): Promise<void> {
  if (!(await isChanged(ended))) await release(db, held)
}

async function release(db: OutboxDatabase, held: Held): Promise<void> {
  await heldEntry(db, held).set(unleased).execute()
}

const unleased = { lease_holder: null, lease_expires_at: null }

function heldEntry(db: OutboxDatabase, { id, holder }: Lessee) {
  return db.updateTable('outbox').where('id', '=', id).where('lease_holder', '=', holder)
}

/** The entry, unless it was asked for again while it ran. */
function runOf(db: OutboxDatabase, held: Held) {
  return heldEntry(db, held).where('attempts', '=', held.attempts)
}

interface Update {
  executeTakeFirstOrThrow(): Promise<UpdateResult>
}

async function isChanged(update: Update): Promise<boolean> {
  const { numUpdatedRows } = await update.executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

function toText(time: number): string {
  return new Date(time).toISOString()
}
