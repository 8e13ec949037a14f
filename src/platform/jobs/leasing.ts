/** Finds and leases due entries of an agent's outbox, in constant texts. Times are epoch milliseconds. */
import { type ExpressionBuilder, sql } from 'kysely'
import { prepareQuery, type ValueOf } from '../prepared-query.ts'
import type { OutboxDatabase, OutboxEntry } from './jobs.ts'
import type { Lane } from './lanes.ts'
import { toText } from './outbox.ts'
import type { OutboxTables } from './tables.ts'

/** The running entries of one agent's lane in this process, which knows them better than leases show. */
export interface Running {
  ids: readonly string[]
  /** Keys under which no other entry may begin before the running one has ended, even if it was cancelled. */
  keys: readonly string[]
  /** The only names that may begin; defaults to all. */
  names?: readonly string[] | undefined
}

export interface Look {
  lane: Lane
  now: number
  limit: number
  running: Running
}

export interface Lease {
  holder: string
  now: number
  expiresAt: number
  /** True if the entries are suspects. */
  suspects?: boolean
}

/**
 * Suspects are entries that two processes have died with, or one twice: for an idle entry, the difference
 * counts those runs. The words are those of their index, for the planner.
 */
const isSuspect = sql<boolean>`attempts - failures >= 2`
const isNoSuspect = sql<boolean>`attempts - failures < 2`

/** Entries to run. */
export interface Due {
  /** At most `limit` ids, the longest due first. */
  due: string[]
  /** The time when the first other idle entry is due, or the lease of its holder ends. */
  next: number | undefined
}

interface FoundRow extends Pick<OutboxEntry, 'id' | 'run_at'> {
  kind: 'free' | 'fresh' | 'leased' | 'suspect'
  due_at: string
}

/** Returns due entries of a lane, with suspects separately. */
export async function findDue(
  db: OutboxDatabase,
  { lane, now, limit, running }: Look,
): Promise<Due & { suspects: Due }> {
  const most = Math.max(0, limit)
  const [ids, keys] = [padded(running.ids), padded(running.keys)]
  const find = findStatement(ids.length, keys.length, running.names)
  const rows = await find(db, { lane, most: most + 1, ...named('id', ids), ...named('key', keys) })
  const dueOf = (found: FoundRow[]): Due => {
    const times = new Map<string, number>()
    for (const { kind, id, due_at } of found.toSorted(byRunAt))
      times.set(id, Math.min(times.get(id) ?? Infinity, kind === 'fresh' ? 0 : Date.parse(due_at)))
    const ordered = [...times.keys()].filter(id => (times.get(id) ?? 0) <= now)
    const due = ordered.slice(0, most)
    for (const id of due) times.delete(id)
    return { due, next: times.size === 0 ? undefined : Math.min(...times.values()) }
  }
  const { suspect = [], entry = [] } = Object.groupBy(rows, ({ kind }) =>
    kind === 'suspect' ? kind : 'entry',
  )
  return { ...dueOf(entry), suspects: dueOf(suspect) }
}

/** Fills up lists to one of few lengths, for constant texts, with values that are no id and no key. */
function padded(values: readonly string[]): string[] {
  const length = 2 ** Math.ceil(Math.log2(Math.max(1, values.length)))
  return [...values, ...Array<string>(length - values.length).fill('')]
}

function named(name: string, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(values.map((value, index) => [`${name} ${index}`, value]))
}

function placeholders(name: string, count: number, value: ValueOf<string>): string[] {
  return Array.from({ length: count }, (_, index) => value(`${name} ${index}`))
}

/** Caches results by arguments. */
function kept<Arguments extends unknown[], Made>(make: (...given: Arguments) => Made) {
  const made = new Map<string, Made>()
  return (...given: Arguments): Made => {
    const key = JSON.stringify(given)
    const one = made.get(key) ?? make(...given)
    made.set(key, one)
    return one
  }
}

const findStatement = kept((ids: number, keys: number, names: Running['names']) =>
  prepareQuery<OutboxTables, FoundRow, string>((db, value) => {
    const running = { ids: placeholders('id', ids, value), keys: placeholders('key', keys, value), names }
    const { free, fresh, leased, suspects } = candidates(db, value<Lane>('lane'), running)
    // With a bare parameter as its limit, SQLite would prepare the statement again each time.
    const most = sql<number>`cast(${value<number>('most')} as integer)`
    const runAt = sql<string>`run_at`
    /** The earliest time at which an entry would run if its holder died now. */
    const leaseEnd = sql<string>`case when lease_expires_at > run_at then lease_expires_at else run_at end`
    const first = (found: typeof free, kind: FoundRow['kind'], dueAt = runAt) => {
      const columns = found.select(['id', 'run_at', dueAt.as('due_at'), sql.lit(kind).as('kind')])
      return db.selectFrom(columns.orderBy(dueAt).orderBy('id').limit(most).as('found')).selectAll()
    }
    return first(free, 'free')
      .unionAll(first(fresh, 'fresh'))
      .unionAll(first(leased, 'leased', leaseEnd))
      .unionAll(first(suspects, 'suspect', leaseEnd))
  }),
)

/** Leases the found entries that are still due and free, or whose holder is dead; the longest due first. */
export async function leaseFound(
  db: OutboxDatabase,
  found: readonly string[],
  { holder, now, expiresAt, suspects = false }: Lease,
): Promise<OutboxEntry[]> {
  if (found.length === 0) return []
  const ids = padded(found)
  const values = { holder, now: toText(now), expiresAt: toText(expiresAt), ...named('id', ids) }
  const leased = await leaseStatement(ids.length, suspects)(db, values)
  return leased.toSorted(byRunAt)
}

const leaseStatement = kept((ids: number, areSuspects: boolean) =>
  prepareQuery<OutboxTables, OutboxEntry, string>((db, value) =>
    db
      .updateTable('outbox')
      .set(old => ({
        lease_holder: value('holder'),
        lease_expires_at: value('expiresAt'),
        attempts: old('attempts', '+', 1),
        again: 0,
        // The suspect goes behind the others, in case it ends this process.
        ...(areSuspects && { run_at: value('now') }),
      }))
      .where('id', 'in', placeholders('id', ids, value))
      // Another process might have leased them meanwhile, and even ended its run.
      .where('failed_at', 'is', null)
      .where(isFree(value('now')))
      .where(({ or, and, eb }) => {
        const isFresh = and([eb('attempts', '=', 0), eb('run_at', '<=', eb.ref('created_at'))])
        return or([eb('run_at', '<=', value('now')), isFresh])
      })
      .returningAll(),
  ),
)

/**
 * Selects the entries of a lane that may run here, now or later. Each kind has an index with its terms as the
 * condition: so a look reads due entries, and none of the many that wait.
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
    /** New entries for an immediate run: they are always due, because the clock might have been set back. */
    fresh: free.where(({ eb }) => eb('attempts', '=', eb.lit(0))).whereRef('run_at', '<=', 'created_at'),
    leased: entries.where('lease_holder', 'is not', null).where(isNoSuspect),
    suspects: entries.where(isSuspect),
  }
}

function isFree(now: string) {
  return ({ or, eb }: ExpressionBuilder<OutboxTables, 'outbox'>) =>
    or([eb('lease_holder', 'is', null), eb('lease_expires_at', '<=', now)])
}

type Ordered = Pick<OutboxEntry, 'run_at' | 'id'>

function byRunAt(one: Ordered, other: Ordered): number {
  const [column] = one.run_at === other.run_at ? (['id'] as const) : (['run_at'] as const)
  return one[column] < other[column] ? -1 : Number(one[column] > other[column])
}
