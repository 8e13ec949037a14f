/** The statements on the outbox of one agent. Times are milliseconds since the epoch. */
import type { ExpressionBuilder, UpdateResult } from 'kysely'
import { sql } from 'kysely'
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
 * Adds entries, each with a key and due now, to begin after what has been committed so far. One that waits for a later time is
 * due now instead, with no failures, and one that runs is marked to run once more. One that is about to begin is left alone.
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
    .where(({ or, and, eb }) => {
      const soonest = toText(Math.min(...entries.map(({ runAt }) => runAt)))
      return or([eb('again', '=', 1), and([eb('attempts', '=', 0), eb('run_at', '<=', soonest)])])
    })
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
        .doUpdateSet(({ ref, eb }) => ({
          payload: ref('excluded.payload'),
          run_at: ref('excluded.run_at'),
          attempts: eb('outbox.attempts', '-', ref('outbox.failures')),
          failures: 0,
          again: eb.case().when('outbox.lease_holder', 'is', null).then(0).else(1).end(),
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

/** The entries of one agent's lane that this process is running right now; it knows that better than a lease shows. */
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
  /** Leases entries that are suspects, instead of all others. */
  suspects?: boolean
}

/**
 * Entries that two processes have died with, or one twice, are suspects. Of an entry that no process runs, the difference counts
 * the runs that ended so. In the words of their index, for the planner.
 */
const isSuspect = sql<boolean>`attempts - failures >= 2`
const isNoSuspect = sql<boolean>`attempts - failures < 2`

/** Leases up to `limit` entries that are due and free, or whose holder is dead; the longest due first. */
export async function leaseDue(db: OutboxDatabase, lease: Lease): Promise<OutboxEntry[]> {
  const { holder, expiresAt } = lease
  const now = toText(lease.now)
  const leased = await db
    .updateTable('outbox')
    .set(old => ({
      lease_holder: holder,
      lease_expires_at: toText(expiresAt),
      attempts: old('attempts', '+', 1),
      again: 0,
      // Behind the other suspects, should it end this process.
      ...(lease.suspects && { run_at: now }),
    }))
    .where('id', 'in', db.selectFrom(dueNow(db, lease, now).as('due')).select('id'))
    // Checked again, since two processes that lease at the same time may have found the same entries.
    .where(isFree(now))
    .returningAll()
    .execute()
  return leased.toSorted((one, other) => compare(one.run_at, other.run_at) || compare(one.id, other.id))
}

function dueNow(db: OutboxDatabase, { lane, limit, running, suspects: isForSuspects }: Lease, now: string) {
  const { free, fresh, leased, suspects } = candidates(db, lane, running)
  const first = (found: typeof free) =>
    db
      .selectFrom(found.select(['id', 'run_at']).orderBy('run_at').orderBy('id').limit(limit).as('found'))
      .selectAll()
  if (isForSuspects) return first(suspects.where('run_at', '<=', now).where(isFree(now)))
  return first(free.where('run_at', '<=', now))
    .union(first(fresh))
    .union(first(leased.where('lease_expires_at', '<=', now).where('run_at', '<=', now)))
    .orderBy('run_at')
    .orderBy('id')
    .limit(limit)
}

/** Times; undefined where there is none. */
export interface Due {
  next: number | undefined
  /** Of suspects, which are not in `next`. */
  suspect: number | undefined
}

/**
 * When to look into the outbox again: the earliest time at which an entry that is not running here is due, or the lease of
 * another holder ends.
 */
export async function nextDue(db: OutboxDatabase, lane: Lane, running: Running): Promise<Due> {
  const { free, fresh, leased, suspects } = candidates(db, lane, running)
  const first = (found: typeof free) => found.select('run_at').orderBy('run_at').limit(1)
  const { fresh_run_at, free_due, leased_due, suspect_due } = await db
    .selectNoFrom([
      first(fresh).as('fresh_run_at'),
      first(free).as('free_due'),
      leased.select(leaseEnds).as('leased_due'),
      suspects.select(leaseEnds).as('suspect_due'),
    ])
    .executeTakeFirstOrThrow()
  const earliest = (...found: (string | null)[]) => {
    const times = found.flatMap(time => (time === null ? [] : Date.parse(time)))
    return times.length === 0 ? undefined : Math.min(...times)
  }
  return {
    next: fresh_run_at === null ? earliest(free_due, leased_due) : 0,
    suspect: earliest(suspect_due),
  }
}

/** The earliest time at which an entry would run whose holder, if it has one, dies now. */
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
  const free = entries.where('lease_holder', 'is', null).where(isNoSuspect)
  return {
    free,
    /**
     * Those that were to run at once, and have not begun yet: they are due at any time, since the clock may have
     * been set back meanwhile.
     */
    fresh: free.where(({ eb }) => eb('attempts', '=', eb.lit(0))).whereRef('run_at', '<=', 'created_at'),
    leased: entries.where('lease_holder', 'is not', null).where(isNoSuspect),
    suspects: entries.where(isSuspect),
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

/** An entry as `holder` has leased it. */
export interface Held {
  id: string
  holder: string
}

/** False if it is no longer held. */
export async function extendLease(db: OutboxDatabase, held: Held, expiresAt: number): Promise<boolean> {
  return await isChanged(heldEntry(db, held).set({ lease_expires_at: toText(expiresAt) }))
}

/** The work is done; the entry is removed. */
export async function completeEntry(db: OutboxDatabase, held: Held): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('outbox')
    .where('id', '=', held.id)
    .where('lease_holder', '=', held.holder)
    .where('again', '=', 0)
    .executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) await beginAnew(db, held)
}

/** The process has lived through a part of the work that will not be done again: it is not to be suspected. */
export async function recordProgress(db: OutboxDatabase, held: Held): Promise<void> {
  await heldEntry(db, held)
    .set(old => ({ attempts: old('failures', '+', 1) }))
    .execute()
}

/** Counts a run that ended in an error, unless the entry is to run once more anyway; the lease goes on. */
export async function recordFailure(db: OutboxDatabase, held: Held, error: string): Promise<void> {
  await runOf(db, held)
    .set(old => ({ failures: old('failures', '+', 1), last_error: error }))
    .execute()
}

/** @param deaths the processes that have ended with it and still count. */
export async function postponeEntry(
  db: OutboxDatabase,
  held: Held,
  { runAt, deaths }: { runAt: number; deaths: number },
): Promise<void> {
  const postponed = runOf(db, held).set(old => ({
    attempts: old('failures', '+', deaths),
    run_at: toText(runAt),
    ...unleased,
  }))
  await endRun(db, held, postponed)
}

/** Returns an entry whose run was stopped through no fault of its own, as if it had not begun. */
export async function returnEntry(db: OutboxDatabase, { id, holder }: Held, now: number): Promise<void> {
  const soonest = toText(now)
  await heldEntry(db, { id, holder })
    .set(old => ({
      attempts: old('attempts', '-', 1),
      run_at: old.case().when('run_at', '>', soonest).then(soonest).else(old.ref('run_at')).end(),
      ...unleased,
    }))
    .execute()
}

/** Frees an entry with which the process ends, for a reason that may be this entry. */
export async function freeEntry(db: OutboxDatabase, held: Held): Promise<void> {
  await heldEntry(db, held).set(unleased).execute()
}

/** Puts an entry behind those that are due at `runAt`, as if it were new, since it has done a part of its work. */
export async function requeueEntry(db: OutboxDatabase, held: Held, runAt: number): Promise<void> {
  // A millisecond later, so that what becomes due in this one goes first.
  const requeued = { attempts: 0, failures: 0, run_at: toText(runAt + 1), ...unleased }
  await endRun(db, held, runOf(db, held).set(requeued))
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

/** An entry that was added again while it ran begins again instead. */
async function endRun(db: OutboxDatabase, held: Held, ended: Update): Promise<void> {
  if (!(await isChanged(ended))) await beginAnew(db, held)
}

async function beginAnew(db: OutboxDatabase, held: Held): Promise<void> {
  await heldEntry(db, held)
    .set({ attempts: 0, failures: 0, again: 0, ...unleased })
    .execute()
}

const unleased = { lease_holder: null, lease_expires_at: null }

function heldEntry(db: OutboxDatabase, { id, holder }: Held) {
  return db.updateTable('outbox').where('id', '=', id).where('lease_holder', '=', holder)
}

/** The entry, unless it was added again while it ran. */
function runOf(db: OutboxDatabase, held: Held) {
  return heldEntry(db, held).where('again', '=', 0)
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
