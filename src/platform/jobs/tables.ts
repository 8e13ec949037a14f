/** The tables of durable jobs. Times are ISO 8601 text in UTC with milliseconds, so that text order is time order. */
import { type Column, integer, lease, type RowOf, since, text, textOrNull, withDefault } from '../columns.ts'
import type { Lane } from './lanes.ts'

const lane: Column<Lane> = { type: 'text' }

/** Jobs that wait or run. A finished one leaves no row; one that failed permanently stays for some weeks. */
export const outboxColumns = {
  id: text,
  /** The job, such as `source.process`, or `event:webhook` for an event for a webhook. */
  name: text,
  lane,
  /** The key, under which at most one entry waits or runs; null for no such limit. */
  key: textOrNull,
  /** JSON. */
  payload: text,
  /** The earliest time of the next run. */
  run_at: text,
  /** Failed runs, and later ones that began and did not end: their process did, unless one still runs. */
  attempts: integer,
  /** Runs that ended in an error. */
  failures: integer,
  /** The process that runs the entry; null while it waits. */
  lease_holder: lease,
  /** After this time the holder counts as dead. */
  lease_expires_at: lease,
  /** Error of the last failed run. */
  last_error: textOrNull,
  /** Time of the permanent failure; the entry then stays for some weeks for people, and never runs again. */
  failed_at: textOrNull,
  created_at: text,
  /** 1 if the entry runs once more after the current run. */
  again: since('0019-outbox-suspects', withDefault(integer, 0)),
}

/** Event subscriptions of the agent: features write their rows together with the subscribers. */
export const eventSubscriptionColumns = {
  /** Name of the event, or `*` for all. */
  event: text,
  /** Kind of the subscriber, which names the handler. */
  kind: text,
  /** Id of the subscriber. */
  ref: text,
}

/** The time when an agent has work due: one row per agent and lane, and none for lanes without work. */
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
