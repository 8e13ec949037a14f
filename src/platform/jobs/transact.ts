import type { Kysely } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Ids } from '../ids.ts'
import type { Log } from '../logging/log.ts'
import { prepareQuery, type ValueOf } from '../prepared-query.ts'
import { inTransaction } from '../transactions/transaction.ts'
import { causeDepth } from './cause-depth.ts'
import { anyEvent, eventJobName } from './events.ts'
import type { EnsureJobs, NewJob, Outbox, OutboxDatabase, Transact } from './jobs.ts'
import { type ByLane, defaultLane, type Lane } from './lanes.ts'
import { addEntry, cancelEntry, ensureEntries, runEntriesNow } from './outbox.ts'
import type { OutboxTables } from './tables.ts'
import type { Announcement, WakeUps } from './wake-ups.ts'

interface Dependencies {
  wakeUps: ByLane<WakeUps>
  clock: Clock
  ids: Ids
  log: Log
  /** Aborts jobs that were cancelled while they ran. */
  abort(agentId: string, jobIds: readonly string[]): void
  /** The handlers by the name of the job. */
  handlers: ReadonlyMap<string, { lane: Lane; isShared?: boolean; always?: readonly string[] }>
}

/** The changes that a transaction has left in the outbox. */
interface Traces {
  /** The earliest due times of added entries, and of those to run now. */
  dueAt: Map<Lane, number>
  cancelled: string[]
}

export function createTransact<Events>(dependencies: Dependencies): Transact<Events> {
  const { wakeUps, log, abort } = dependencies
  return async (agent, work) => {
    const { agentId } = agent
    // Read here, because shared transactions run in the context of another.
    const depth = causeDepth.getStore()
    let traces = noTraces()
    const announcements = new Map<Lane, Announcement>()
    // Announces before the commit, but only if there is work to wake up for.
    const announce = async (lane: Lane) => {
      if (!announcements.has(lane)) announcements.set(lane, await wakeUps[lane].announce(agentId))
    }
    let committed = false
    try {
      const result = await inTransaction(agent.db, async transaction => {
        // The compiler can't see that a schema with more tables than the outbox has the outbox.
        const db = transaction as unknown as Kysely<OutboxTables>
        // A repeated attempt has left nothing.
        traces = noTraces()
        return await work(transaction, createOutbox<Events>(db, traces, announce, { ...dependencies, depth }))
      })
      committed = true
      return result
    } finally {
      if (committed) abort(agentId, traces.cancelled)
      // A failure only costs a delay: the announced wake-up is still there.
      for (const [lane, announcement] of announcements)
        await announcement
          .settle(committed ? traces.dueAt.get(lane) : undefined)
          .catch(error => log.warn({ err: error, agentId }, 'pulling a wake-up forward failed'))
    }
  }
}

function noTraces(): Traces {
  return { dueAt: new Map(), cancelled: [] }
}

function createOutbox<Events>(
  db: OutboxDatabase,
  traces: Traces,
  announce: (lane: Lane) => Promise<void>,
  { clock, ids, handlers, depth }: Dependencies & { depth: number | undefined },
): Outbox<Events> {
  const now = clock.now()

  const laneOf = (name: string) => handlers.get(name)?.lane ?? defaultLane

  function expect(lane: Lane, dueAt: number): void {
    traces.dueAt.set(lane, Math.min(traces.dueAt.get(lane) ?? dueAt, dueAt))
  }

  async function add({ name, key, payload, runAt = now }: NewJob): Promise<boolean> {
    const lane = laneOf(name)
    await announce(lane)
    const added = await addEntry(db, { id: ids.record(), name, lane, key: key ?? null, payload, runAt, now })
    if (added) expect(lane, runAt)
    return added
  }

  return {
    add,

    async emit(event, ...payloads) {
      const receivers = payloads.length === 0 ? [] : await receiversOf(db, event, handlers)
      for (const payload of payloads) {
        const happened = { id: ids.record(), name: event, time: now, payload, depth }
        for (const [name, subscribed] of receivers)
          await add({ name, payload: { ...happened, ...subscribed } })
      }
    },

    async cancel(key) {
      const id = await cancelEntry(db, key)
      if (id !== undefined) traces.cancelled.push(id)
      return id !== undefined
    },

    async runNow(name) {
      const lane = laneOf(name)
      await announce(lane)
      if (await runEntriesNow(db, { name, lane, now })) expect(lane, now)
    },
  }
}

export function createEnsureJobs({
  wakeUps,
  clock,
  ids,
  handlers,
}: Pick<Dependencies, 'wakeUps' | 'clock' | 'ids' | 'handlers'>): EnsureJobs {
  return async ({ agentId, db }, jobs) => {
    const now = clock.now()
    const entries = jobs.map(job => {
      const lane = handlers.get(job.name)?.lane ?? defaultLane
      return { ...job, id: ids.record(), lane, runAt: now, now }
    })
    if (entries.length === 0) return
    await ensureEntries(db, entries)
    for (const lane of new Set(entries.map(entry => entry.lane))) await wakeUps[lane].pull(agentId, now)
  }
}

const selectSubscribers = prepareQuery((db: OutboxDatabase, value: ValueOf<'event'>) =>
  db
    .selectFrom('event_subscriptions')
    .select(['kind', 'ref'])
    .distinct()
    .where('event', 'in', [value('event'), anyEvent])
    .orderBy('kind')
    .orderBy('ref'),
)

/** Returns the jobs that get the event, each with its subscribers. */
async function receiversOf(db: OutboxDatabase, event: string, handlers: Dependencies['handlers']) {
  const subscribers = new Map<string, string[]>()
  for (const { kind, ref } of await selectSubscribers(db, { event }))
    subscribers.set(kind, [...(subscribers.get(kind) ?? []), ref])
  const receivers: [name: string, subscribed: object][] = []
  for (const [kind, refs] of subscribers) {
    const name = eventJobName(kind)
    const each = handlers.get(name)?.isShared ? [{ refs }] : refs.map(ref => ({ ref }))
    receivers.push(...each.map(subscribed => [name, subscribed] as [string, object]))
  }
  for (const [name, { always }] of handlers) if (always?.includes(event)) receivers.push([name, { ref: '' }])
  return receivers
}
