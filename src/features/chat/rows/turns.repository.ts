import { type Kysely, type Selectable, sql } from 'kysely'
import { parseJson } from '#platform/exact-json.ts'
import type { NewJob } from '#platform/jobs/jobs.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Reach } from '../reach.ts'
import type { WaitingCall } from '../turn/turn.ts'
import { reachedConversations } from './conversations.repository.ts'

type Database = Kysely<AgentTables>
export type TurnRow = Selectable<AgentTables['turns']>

export type TurnStatus = 'queued' | 'running' | 'stopping' | 'waiting' | 'ended'

/** The wait of a turn, as stored in its row. */
export interface Waiting {
  /** Id of the call, which waits for approval or in a browser. */
  approval_id: string
  /** The browser session for a person to take over; without one the turn waits for approval. */
  session_id?: string
  tool: string
  arguments: Record<string, unknown>
  rule: WaitingCall['rule']
  /** The rule as a sentence, or the task for the person. */
  why: string
  /** The recipient, if the call waits because it sends something. */
  sends_to?: string
  approvers: WaitingCall['approvers']
  /** The text of others that the model has read last in this turn, with its source. */
  read?: string | undefined
  tool_version: string
  since: string
  until: string
  /** The job that resumes the turn. */
  resume: NewJob & { key: string }
}

export interface WaitingTurn {
  id: string
  waiting: Waiting
}

export function insertTurn(database: Database, row: Omit<TurnRow, 'sequence'>) {
  return database.insertInto('turns').values(row).execute()
}

function turnOf(database: Database, id: string, reach: Reach = 'all') {
  return database
    .selectFrom('turns')
    .where('id', '=', id)
    .$if(reach !== 'all', query =>
      query.where('conversation_id', 'in', reachedConversations(database, reach).select('id')),
    )
}

export function findTurn(...of: Parameters<typeof turnOf>): Promise<TurnRow | undefined> {
  return turnOf(...of)
    .selectAll()
    .executeTakeFirst()
}

/** Returns the state of a turn, without its question and its recorded state, which can be large. */
export function findStanding(...of: Parameters<typeof turnOf>) {
  return turnOf(...of)
    .select(['id', 'status', 'started_by', 'waiting', 'ended_at'])
    .executeTakeFirst()
}

export async function findWaiting(
  database: Database,
  conversationId: string,
): Promise<WaitingTurn | undefined> {
  const row = await database
    .selectFrom('turns')
    .select(['id', 'waiting'])
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'waiting')
    .executeTakeFirst()
  return row && { id: row.id, waiting: waitingOf(row) }
}

export function waitingOf({ waiting }: Pick<TurnRow, 'waiting'>): Waiting {
  return parseJson(waiting ?? '{}')
}

export async function hasEnded(database: Database, id: string): Promise<boolean> {
  const open = database.selectFrom('turns').select('id').where('id', '=', id).where('ended_at', 'is', null)
  return (await open.executeTakeFirst()) === undefined
}

export function findByClientId(database: Database, started_by: string, clientId: string) {
  return database
    .selectFrom('turns')
    .selectAll()
    .where('started_by', '=', started_by)
    .where('client_message_id', '=', clientId)
    .executeTakeFirst()
}

/** Finds the turn of a message that had a decision, and has not ended. */
export function findDecided(database: Database, messageId: string): Promise<TurnRow | undefined> {
  return database
    .selectFrom('turns')
    .selectAll()
    .where('client_message_id', '=', messageId)
    .where('waiting', 'is not', null)
    .where('status', 'not in', ['waiting', 'ended'] satisfies TurnStatus[])
    .executeTakeFirst()
}

const selectHeld = prepareQuery((database: Database, value: ValueOf<'author'>) =>
  database
    .selectFrom('turns')
    .selectAll()
    .where('started_by', '=', value('author'))
    .where('waiting', 'is not', null)
    .where('status', '!=', 'ended'),
)

/** Finds an author's turns that wait, or have waited, and have not ended. */
export const findHeld = (database: Database, author: string) => selectHeld(database, { author })

/** Returns the turns of a conversation that have not ended, in order. */
export function openTurns(database: Database, conversationId: string) {
  return database
    .selectFrom('turns')
    .select(['id', 'status', 'started_by', 'created_at', 'started_at', 'waiting'])
    .where('conversation_id', '=', conversationId)
    .where('status', '!=', 'ended')
    .orderBy('sequence')
    .execute()
}

/** Stores a waiting turn, or keeps its row. Returns false, and stores nothing, once it has ended or a later run has begun. */
export async function putWaiting(database: Database, row: Omit<TurnRow, 'sequence'>): Promise<boolean> {
  const { status, state, waiting, lock_token } = row
  const put = await database
    .insertInto('turns')
    .values(row)
    .onConflict(conflict =>
      conflict
        .column('id')
        .doUpdateSet({ status, state, waiting, lock_token })
        .where('turns.run', '=', row.run)
        .where('turns.status', '!=', 'ended'),
    )
    .returning('id')
    .execute()
  return put.length > 0
}

/** Returns false if the turn has another status meanwhile. */
export async function moveTurn(
  database: Database,
  id: string,
  from: readonly TurnStatus[],
  changes: Partial<Omit<TurnRow, 'sequence' | 'id'>>,
): Promise<boolean> {
  const moved = await database
    .updateTable('turns')
    .set(changes)
    .where('id', '=', id)
    .where('status', 'in', from)
    .returning('id')
    .execute()
  return moved.length > 0
}

/** Begins a run of the turn and returns the run's number; undefined if the turn has ended, or waits now. */
export async function beginRun(
  database: Database,
  id: string,
  lockToken: number,
  now: string,
): Promise<number | undefined> {
  const row = await database
    .updateTable('turns')
    .set(({ eb, fn, val }) => ({
      status: sql<string>`case when status = 'queued' then 'running' else status end`,
      lock_token: lockToken,
      started_at: fn.coalesce('started_at', val(now)),
      run: eb('run', '+', 1),
    }))
    .where('id', '=', id)
    .where('status', 'not in', ['ended', 'waiting'] satisfies TurnStatus[])
    .returning('run')
    .executeTakeFirst()
  return row?.run
}

/** Changes the turn's row for one of its runs; returns false, and changes nothing, once a later run has begun. */
export async function changeInRun(
  database: Database,
  { id, run }: Pick<TurnRow, 'id' | 'run'>,
  changes: Partial<Omit<TurnRow, 'sequence' | 'id' | 'run'>>,
): Promise<boolean> {
  const changed = await database
    .updateTable('turns')
    .set({ run, ...changes })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '!=', 'ended')
    .returning('id')
    .execute()
  return changed.length > 0
}

export function insertEvents(database: Database, batch: Selectable<AgentTables['turn_events']>) {
  return database.insertInto('turn_events').values(batch).execute()
}

const [appendAlone, appendBesideOthers] = [sql``, sql`for share`].map(lock =>
  prepareQuery<AgentTables, { last: number }, 'id' | 'run' | 'last' | 'events'>((database, value) => ({
    compile: () =>
      sql<{ last: number }>`
        insert into turn_events (turn_id, last, events)
        select id, cast(${value('last')} as integer), cast(${value('events')} as text)
        from turns where id = ${value('id')} and run = ${value('run')} and status != 'ended' ${lock}
        returning last`.compile(database),
  })),
)

/**
 * Stores events of one of the turn's runs in one statement; returns false, and stores nothing, once a later run has begun. If
 * another process can begin one, the turn's row is locked meanwhile, so that no event follows those that it counts.
 */
export async function appendInRun(
  database: Database,
  { id, run }: Pick<TurnRow, 'id' | 'run'>,
  { last, events }: { last: number; events: string },
  isExclusive: boolean,
): Promise<boolean> {
  const append = isExclusive ? appendAlone : appendBesideOthers
  return ((await append?.(database, { id, run, last, events })) ?? []).length > 0
}

/** Max batches that are read at a time. */
export const batchesAtOnce = 8

const selectEvents = prepareQuery((database: Database, value: ValueOf<'turnId' | 'after'>) =>
  database
    .selectFrom('turn_events')
    .select(['last', 'events'])
    .where('turn_id', '=', value('turnId'))
    .where('last', '>', value<number>('after'))
    .orderBy('last')
    .limit(batchesAtOnce),
)

export const readEvents = (database: Database, turnId: string, after: number) =>
  selectEvents(database, { turnId, after })

/** Stores events after those of the turn. @param after the number of its last one, if known */
export async function appendEvents(
  database: Database,
  turn_id: string,
  events: readonly object[],
  after?: number,
): Promise<void> {
  if (events.length === 0) return
  const before = after ?? (await sizeOfLog(database, turn_id)).last
  const lines = events.map(event => JSON.stringify(event)).join('\n')
  await insertEvents(database, { turn_id, last: before + events.length, events: lines })
}

/** Returns the number of the last event, and the bytes of all. */
export async function sizeOfLog(database: Database, turnId: string) {
  const { last, bytes } = await database
    .selectFrom('turn_events')
    .select(({ fn }) => [
      fn.max<number | null>('last').as('last'),
      sql<number | null>`sum(octet_length(events))`.as('bytes'),
    ])
    .where('turn_id', '=', turnId)
    .executeTakeFirstOrThrow()
  return { last: Number(last ?? 0), bytes: Number(bytes ?? 0) }
}

/** Deletes expired events and turns. Returns when the next ones to expire have ended; null without any. Times are ISO 8601. */
export async function removeEnded(
  database: Database,
  { eventsUntil, turnsUntil }: { eventsUntil: string; turnsUntil: string },
): Promise<{ events: string | null; turns: string | null }> {
  const ended = (until: string) =>
    database.selectFrom('turns').select('id').where('ended_at', 'is not', null).where('ended_at', '<=', until)
  await database.deleteFrom('turn_events').where('turn_id', 'in', ended(eventsUntil)).execute()
  await database.deleteFrom('turns').where('id', 'in', ended(turnsUntil)).execute()
  return await database
    .selectFrom('turns')
    .select(({ fn }) => [
      fn.min<string | null>('ended_at').filterWhere('ended_at', '>', eventsUntil).as('events'),
      fn.min<string | null>('ended_at').as('turns'),
    ])
    .executeTakeFirstOrThrow()
}

/** The turn of the last lock of a conversation. */
export interface MarkedTurn {
  id: string
  by: string
  since: string
  conversationId: string
  isRunning: boolean
}

/** Finds a turn by its conversation's id, or by its own. @param now ISO 8601 */
export async function findMarked(
  database: Database,
  by: { conversationId: string } | { turnId: string },
  reach: Reach,
  now: string,
): Promise<MarkedTurn | undefined> {
  const [column, value] =
    'turnId' in by ? (['turn_id', by.turnId] as const) : (['id', by.conversationId] as const)
  const row = await reachedConversations(database, reach)
    .select(['id', 'turn_id', 'turn_by', 'turn_since', 'lock_holder', 'lock_expires_at'])
    .where(column, '=', value)
    .where('turn_id', 'is not', null)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { id: conversationId, turn_id, turn_by, turn_since, lock_holder, lock_expires_at } = row
  const isRunning = lock_holder !== null && (lock_expires_at ?? '') > now
  return { id: turn_id ?? '', by: turn_by ?? '', since: turn_since ?? '', conversationId, isRunning }
}
