import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Ids } from '../ids.ts'
import type { Log } from '../logging/log.ts'
import type { Lane } from './lanes.ts'
import type { OutboxTable, OutboxTables } from './tables.ts'

export type OutboxDatabase = Kysely<OutboxTables>
export type OutboxEntry = Selectable<OutboxTable>

/** The part of an agent's handle that jobs need; handlers get the handle itself. */
export interface JobAgent {
  agentId: string
  db: OutboxDatabase
  /** Aborted when the database is about to be closed, as when the agent is being deleted. */
  signal: AbortSignal
}

export interface JobContext<Agent extends JobAgent> {
  agent: Agent
  /** As it was added, after a round trip through JSON: check it as you would check input. */
  payload: unknown
  /**
   * Stays the same when the job runs again: use it to recognise work that is done already, and send it as
   * `Idempotency-Key` to servers.
   */
  jobId: string
  key: string | null
  /**
   * Aborted, with a `JobAborted` as its reason, when the process stops, the job is cancelled, another process has taken
   * it over or the agent is being deleted. The handler is to end soon by throwing, which does not count as a failure.
   */
  signal: AbortSignal
  /**
   * To be called when the job has recorded a part of its work that will not be done again. A job that processes die with,
   * four times without that, is given up.
   */
  progressed(): Promise<void>
  log: Log
}

/** Runs the jobs of one name. A job may run more than once, even after it has succeeded: handlers must be idempotent. */
export interface JobHandler<Agent extends JobAgent> {
  /** Whose places it takes. */
  lane: Lane
  /** After an AppError that is permanent the job fails permanently; after any other error it runs again. */
  run(context: JobContext<Agent>): Promise<void>
  /**
   * Called after the last attempt has failed, or one has failed permanently, and again until it succeeds. `error` is the
   * message of the last failure. This is the place to record it for people, for example as the status of what could not be
   * processed.
   */
  onFailed?(context: JobContext<Agent>, error: string): Promise<void>
  /** Failed runs until the job fails permanently, at least 1; 5 by default. */
  maxAttempts?: number
  /** Whether it deletes, and therefore also runs while the disk is full; other jobs wait. */
  makesRoom?: boolean
  /** Of events: whether one job hands an event to all subscribers of the kind. */
  isShared?: boolean
  /** Events that it is handed for every agent, without a subscription; `ref` is empty then. */
  always?: readonly string[]
}

/**
 * Runs `work` in a transaction of the agent's database, together with the jobs and events that it causes: they exist if and
 * only if it commits, and run soon after. Inside, use `transaction` only: anything on `agent.db` waits for the end of the
 * transaction, so awaiting it would never end. Make no model or HTTP call.
 */
export type Transact<Events = Record<string, unknown>> = <Tables extends OutboxTables, Result>(
  agent: { agentId: string; db: Kysely<Tables> },
  work: (transaction: Transaction<Tables>, outbox: Outbox<Events>) => Promise<Result>,
) => Promise<Result>

/** The parts that every change of an agent's data needs: a transaction, the time, and new ids. */
export interface ChangeContext<Events = Record<string, unknown>> {
  transact: Transact<Events>
  clock: Clock
  ids: Ids
}

/** Where a transaction leaves the work that follows from it. */
export interface Outbox<Events = Record<string, unknown>> {
  /** False, and nothing is added, while a job with the same key waits or runs. */
  add(job: NewJob): Promise<boolean>
  /**
   * For each payload, adds one job for each subscriber of the agent that has subscribed to the event or to `*` (table
   * `event_subscriptions`), so that none of them repeats for another's failure; and one for all of a kind whose handler
   * is shared.
   */
  emit<Name extends keyof Events & string>(eventName: Name, ...payloads: Events[Name][]): Promise<void>
  /** Removes the job that waits under this key, or aborts it if it is running. False if there is none. */
  cancel(key: string): Promise<boolean>
  /** Makes the jobs of this name due that wait for a later time, such as that of their next attempt. */
  runNow(name: string): Promise<void>
}

export interface NewJob {
  /** Name of the handler. */
  name: string
  /** Anything that JSON can hold. */
  payload: unknown
  /** Jobs with the same key have the same lane: one begins only after the end of its predecessor. */
  key?: string
  /** Milliseconds since the epoch; at once by default. */
  runAt?: number
}

/**
 * Has each of these jobs begin once from now on: one that waits for a later time is due now, and one that runs right now runs
 * once more. For a job that has stored what they are to work on; it does so again if its process dies before.
 */
export type EnsureJobs = (agent: JobAgent, jobs: readonly KeyedJob[]) => Promise<void>

export type KeyedJob = Omit<NewJob, 'runAt'> & { key: string }

const abortMessages = {
  stopping: 'the process is stopping; the job will be run again',
  failing: 'the process has to end for an unknown error; the job will be run again',
  cancelled: 'the job was cancelled',
  'lease lost': 'the job was cancelled, or taken over, by another process',
  'agent closed': 'the database of the agent is being closed',
} as const

export type AbortReason = keyof typeof abortMessages

/** Why a job's signal is aborted. */
export class JobAborted extends Error {
  readonly reason: AbortReason

  constructor(reason: AbortReason, options?: ErrorOptions) {
    super(abortMessages[reason], options)
    this.name = 'JobAborted'
    this.reason = reason
  }
}

/**
 * Thrown by a handler that has more to do, after working for a while or until a time: the job goes behind others that
 * are due then, and runs again. That is not a failure, and it resets the count of failures.
 */
export class JobYields extends Error {
  /** Milliseconds since the epoch. */
  readonly until: number | undefined

  constructor({ until }: { until?: number } = {}) {
    super('the job lets others go first')
    this.name = 'JobYields'
    this.until = until
  }
}
