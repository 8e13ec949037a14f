import type { Kysely } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Ids } from '../ids.ts'
import type { Log } from '../logging/log.ts'
import { inTransaction } from '../transactions/transaction.ts'
import type { Outbox, OutboxDatabase, Transact } from './jobs.ts'
import { eventEntryName } from './jobs.ts'
import { addEntry, cancelEntry, hurryEntries } from './outbox.ts'
import type { OutboxTables } from './tables.ts'
import type { Announcement, WakeUps } from './wake-ups.ts'

interface Needs {
  wakeUps: WakeUps
  clock: Clock
  ids: Ids
  log: Log
  /** Aborts jobs that were cancelled while they ran. */
  abort(agentId: string, jobIds: readonly string[]): void
  /** An event without a handler is not stored. */
  events: { hasHandler(name: string): boolean }
}

/** What a transaction has left in the outbox. */
interface Traces {
  /** The earliest time at which something that was added or hurried is due. */
  dueAt: number | undefined
  cancelled: string[]
}

export function createTransact<Events>(needs: Needs): Transact<Events> {
  const { wakeUps, log, abort } = needs
  return async (agent, work) => {
    const { agentId } = agent
    let traces = noTraces()
    let announcement: Announcement | undefined
    // Before anything is committed, but only where there is something to be woken up for.
    const announce = async () => {
      announcement ??= await wakeUps.announce(agentId)
    }
    let committed = false
    try {
      const result = await inTransaction(agent.db, async transaction => {
        // The compiler can't see that a schema with more tables than the outbox has the outbox.
        const db = transaction as unknown as Kysely<OutboxTables>
        // An attempt that is done anew has left nothing.
        traces = noTraces()
        return await work(transaction, createOutbox<Events>(db, traces, announce, needs))
      })
      committed = true
      return result
    } finally {
      if (committed) abort(agentId, traces.cancelled)
      // A failure costs no more than a delay: the wake-up that was announced is still there.
      await announcement
        ?.settle(committed ? traces.dueAt : undefined)
        .catch(error => log.warn({ err: error, agentId }, 'pulling a wake-up forward failed'))
    }
  }
}

function noTraces(): Traces {
  return { dueAt: undefined, cancelled: [] }
}

function createOutbox<Events>(
  db: OutboxDatabase,
  traces: Traces,
  announce: () => Promise<void>,
  { clock, ids, events }: Needs,
): Outbox<Events> {
  const now = clock.now()

  async function add(name: string, key: string | null, payload: unknown, runAt: number): Promise<boolean> {
    await announce()
    const added = await addEntry(db, { id: ids.record(), name, key, payload, runAt, now })
    if (added) traces.dueAt = Math.min(traces.dueAt ?? runAt, runAt)
    return added
  }

  return {
    add: ({ name, key = null, payload, runAt = now }) => add(name, key, payload, runAt),

    async emit(eventName, payload) {
      if (events.hasHandler(eventName)) await add(eventEntryName(eventName), null, payload, now)
    },

    async cancel(key) {
      const id = await cancelEntry(db, key)
      if (id !== undefined) traces.cancelled.push(id)
      return id !== undefined
    },

    async hurry(name) {
      await announce()
      if (await hurryEntries(db, name, now)) traces.dueAt = Math.min(traces.dueAt ?? now, now)
    },
  }
}
