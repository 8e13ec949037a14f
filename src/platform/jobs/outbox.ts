/** The statements on the outbox of one agent. Times are milliseconds since the epoch. */
import type { UpdateResult } from 'kysely'
import { prepareQuery, type ValueOf } from '../prepared-query.ts'
import type { OutboxDatabase } from './jobs.ts'
import type { Lane } from './lanes.ts'

export interface NewEntry {
  id: string
  name: string
  lane: Lane
  key: string | null
  payload: unknown
  runAt: number
  now: number
}

/** Returns false and adds nothing while an entry with the same key waits or runs. */
export async function addEntry(db: OutboxDatabase, entry: NewEntry): Promise<boolean> {
  return (await insertEntry(db, rowOf(entry))).length > 0
}

const insertEntry = prepareQuery((db: OutboxDatabase, value: ValueOf<keyof ReturnType<typeof rowOf>>) =>
  db
    .insertInto('outbox')
    .values({
      id: value('id'),
      name: value('name'),
      lane: value<Lane>('lane'),
      key: value('key'),
      payload: value('payload'),
      run_at: value('run_at'),
      attempts: value<number>('attempts'),
      failures: value<number>('failures'),
      created_at: value('created_at'),
    })
    .onConflict(conflict => conflict.doNothing())
    .returning('id'),
)

/**
 * Adds entries, each with a key and due now, to begin after the commits so far. A waiting one is due now
 * instead, without failures, and a running one runs once more. One about to begin stays unchanged.
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

/** Removes the entry with this key, even if it runs. Returns its id; undefined if there is none. */
export async function cancelEntry(db: OutboxDatabase, key: string): Promise<string | undefined> {
  const removed = await db
    .deleteFrom('outbox')
    .where('key', '=', key)
    .where('failed_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return removed?.id
}

/** Makes waiting entries of this name due now, but not running ones. Returns true if there were any. */
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

/** Frees the leases of a predecessor. Call it only if the predecessor is certainly dead. */
export async function voidLeases(db: OutboxDatabase, holder: string): Promise<void> {
  await db
    .updateTable('outbox')
    .set({ lease_holder: null, lease_expires_at: null })
    .where('lease_holder', 'is not', null)
    .where('failed_at', 'is', null)
    .where('lease_holder', '!=', holder)
    .execute()
}

/** An entry that `holder` has leased. */
export interface Held {
  id: string
  holder: string
}

/** Returns false if the entry is no longer held. */
export async function extendLease(db: OutboxDatabase, held: Held, expiresAt: number): Promise<boolean> {
  return await isChanged(heldEntry(db, held).set({ lease_expires_at: toText(expiresAt) }))
}

/** Removes an entry whose work is done. */
export async function completeEntry(db: OutboxDatabase, held: Held): Promise<void> {
  const deleted = await deleteHeld(db, { ...held })
  if (deleted.length === 0) await beginAnew(db, held)
}

const deleteHeld = prepareQuery((db: OutboxDatabase, value: ValueOf<keyof Held>) =>
  db
    .deleteFrom('outbox')
    .where('id', '=', value('id'))
    .where('lease_holder', '=', value('holder'))
    .where('again', '=', 0)
    .returning('id'),
)

/** Clears the suspicion: the process has survived a part of the work that will not be repeated. */
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

/** @param deaths the number of processes that died with it and still count. */
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

/** Frees an entry with which the process ends, possibly because of the entry. */
export async function freeEntry(db: OutboxDatabase, held: Held): Promise<void> {
  await heldEntry(db, held).set(unleased).execute()
}

/** Puts an entry behind those due at `runAt`, like a new one, because it has done a part of its work. */
export async function requeueEntry(db: OutboxDatabase, held: Held, runAt: number): Promise<void> {
  // One millisecond later, so that entries due in this one go first.
  const requeued = { attempts: 0, failures: 0, run_at: toText(runAt + 1), ...unleased }
  await endRun(db, held, runOf(db, held).set(requeued))
}

const failedEntriesKeptMs = 30 * 24 * 3_600_000

/** Keeps the entry for people, never to run again, and removes those that were kept long enough. */
export async function failEntry(db: OutboxDatabase, held: Held, now: number): Promise<void> {
  await db
    .deleteFrom('outbox')
    .where('failed_at', '<', toText(now - failedEntriesKeptMs))
    .execute()
  await endRun(db, held, runOf(db, held).set({ failed_at: toText(now), ...unleased }))
}

/** Ends a run; an entry that was added again meanwhile begins again instead. */
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

/** Selects the entry, unless it was added again while it ran. */
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

export function toText(time: number): string {
  return new Date(time).toISOString()
}
