/** The tables of durable jobs. Times are ISO 8601 text in UTC with milliseconds, so that text order is time order. */
import type { Column, RowOf } from '../columns.ts'
import { integer, lease, since, text, textOrNull, withDefault } from '../columns.ts'
import type { Lane } from './lanes.ts'

const lane: Column<Lane> = { type: 'text' }

/** Jobs that wait or run. A finished one leaves no row; one that failed permanently stays for some weeks. */
export const outboxColumns = {
  id: text,
  /** The job, such as `source.process`, or `event:webhook` for an event to be handed to a webhook. */
  name: text,
  lane,
  /** At most one entry per key waits or runs; null for no such limit. */
  key: textOrNull,
  /** JSON. */
  payload: text,
  /** Not to be run earlier. */
  run_at: text,
  /** Runs that have failed, and those since that have begun and not ended: their process has, unless one is still running. */
  attempts: integer,
  /** Runs that ended in an error. */
  failures: integer,
  /** The process that runs it; null while it waits. */
  lease_holder: lease,
  /** After this time the holder counts as dead. */
  lease_expires_at: lease,
  /** Error of the last failed run. */
  last_error: textOrNull,
  /** When it failed permanently; then it is kept for some weeks for people to see, and never run again. */
  failed_at: textOrNull,
  created_at: text,
  /** 1 if it is to run once more when the run ends. */
  again: since('0019-outbox-suspects', withDefault(integer, 0)),
}

/** Event subscriptions of the agent: features write their rows together with the subscribers. */
export const eventSubscriptionColumns = {
  /** Its name, or `*` for all. */
  event: text,
  /** Of the subscriber: names the handler. */
  kind: text,
  /** The subscriber. */
  ref: text,
}

/** When an agent has work due: at most one row per agent and lane, and none for lanes without work. */
export const wakeUpColumns = { agent_id: text, lane, due_at: text }

export type OutboxTable = RowOf<typeof outboxColumns>

/** Part of each agent's database. */
export interface OutboxTables {
  outbox: OutboxTable
  event_subscriptions: RowOf<typeof eventSubscriptionColumns>
}

/** Part of the platform database. */
export interface WakeUpTables {
  wake_ups: RowOf<typeof wakeUpColumns>
}
