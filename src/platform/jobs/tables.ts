import type { Lane } from './lanes.ts'

/** The tables of durable jobs. Times are ISO 8601 text in UTC with milliseconds, so that text order is time order. */

/** Part of each agent's database. */
export interface OutboxTables {
  outbox: OutboxTable
  event_subscriptions: EventSubscriptionsTable
}

/** Part of the platform database. */
export interface WakeUpTables {
  wake_ups: WakeUpsTable
}

/** Jobs that wait or run. A finished one leaves no row; one that failed permanently stays for some weeks. */
export interface OutboxTable {
  id: string
  /** What to do, such as `source.process`, or `event:webhook` for an event to be handed to a webhook. */
  name: string
  lane: Lane
  /** At most one entry per key waits or runs; null for no such limit. */
  key: string | null
  /** JSON. */
  payload: string
  /** Not to be run earlier. */
  run_at: string
  /** Runs begun so far. */
  attempts: number
  /** Runs that ended in an error; the others were interrupted by the end of their process. */
  failures: number
  /** The process that runs it; null while it waits. */
  lease_holder: string | null
  /** After this time the holder counts as dead. */
  lease_expires_at: string | null
  /** Error of the last failed run. */
  last_error: string | null
  /** When it failed permanently; then it is kept for some weeks for people to see, and never run again. */
  failed_at: string | null
  created_at: string
}

/** Who is to learn of which events of the agent: features write their rows with the subscribers themselves. */
interface EventSubscriptionsTable {
  /** Its name, or `*` for all. */
  event: string
  /** Of the subscriber: names the handler. */
  kind: string
  /** The subscriber. */
  ref: string
}

/** Which agent has work due when: at most one row per agent and lane, and none for lanes without work. */
interface WakeUpsTable {
  agent_id: string
  lane: Lane
  due_at: string
}
