import type { Kysely, Selectable, Transaction } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Ids } from '../ids.ts'
import type { Log } from '../logging/log.ts'
import type { Lane } from './lanes.ts'
import type { OutboxTable, OutboxTables } from './tables.ts'

export type OutboxDatabase = Kysely<OutboxTables>
export type OutboxEntry = Selectable<OutboxTable>

/** The part of an agent's handle for jobs; handlers get the handle itself. */
export interface JobAgent {
  agentId: string
  db: OutboxDatabase
  /** Aborted before the database is closed, for instance if the agent is being deleted. */
  signal: AbortSignal
}

export interface JobContext<Agent extends JobAgent> {
  agent: Agent
  /** The added payload after a round trip through JSON: check it like input. */
  payload: unknown
  /** Stays the same in each run: use it to recognise finished work, and as `Idempotency-Key` for servers. */
  jobId: string
  key: string | null
  /**
   * Aborted, with a `JobAborted` as its reason, when the process stops, the job is cancelled, another process
   * has taken it or the agent is being deleted. The handler must then throw soon, which is no failure.
   */
  signal: AbortSignal
  /**
   * Call it once the job has recorded a part of its work that will not be repeated. A job that processes die
   * with, four times without that, fails permanently.
   */
  progressed(): Promise<void>
  log: Log
}

/** Runs the jobs of one name. A job can run again, even after a success: handlers must be idempotent. */
export interface JobHandler<Agent extends JobAgent> {
  /** The lane whose places it takes. */
  lane: Lane
  /** After an AppError that is permanent the job fails permanently; after any other error it runs again. */
  run(context: JobContext<Agent>): Promise<void>
  /**
   * Called after the last attempt has failed, or one has failed permanently, and again until it succeeds.
   * `error` is the message of the last failure. Record it for people, such as in a status.
   */
  onFailed?(context: JobContext<Agent>, error: string): Promise<void>
  /** Failed runs until the job fails permanently, at least 1; defaults to 5. */
  maxAttempts?: number
  /** True if it deletes, and so also runs while the disk is full; other jobs wait. */
  makesRoom?: boolean
  /** For events: true if one job delivers an event to all subscribers of the kind. */
  isShared?: boolean
  /** Events that it gets of every agent, without a subscription; `ref` is then empty. */
  always?: readonly string[]
}

/**
 * Runs `work` in a transaction of the agent's database, together with its jobs and events: they exist if and
 * only if it commits, and run soon after. Inside, use `transaction` only: anything on `agent.db` waits for
 * the end of the transaction, so awaiting it would never end. Make no model or HTTP call.
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

/** The work that a transaction adds for later. */
export interface Outbox<Events = Record<string, unknown>> {
  /** Returns false and adds nothing while a job with the same key waits or runs. */
  add(job: NewJob): Promise<boolean>
  /**
   * For each payload, adds one job per subscriber of the agent's event or of `*` (table
   * `event_subscriptions`), so that none repeats for another's failure; and one for each kind with a shared
   * handler.
   */
  emit<Name extends keyof Events & string>(eventName: Name, ...payloads: Events[Name][]): Promise<void>
  /** Removes the waiting job with this key, or aborts the running one. Returns false if there is none. */
  cancel(key: string): Promise<boolean>
  /** Makes waiting jobs of this name due, also those that wait for their next attempt. */
  runNow(name: string): Promise<void>
}

export interface NewJob {
  /** Name of the handler. */
  name: string
  /** Anything that JSON can hold. */
  payload: unknown
  /** Jobs with the same key have the same lane: each begins after its predecessor's end. */
  key?: string
  /** Milliseconds since the epoch; defaults to now. */
  runAt?: number
}

/**
 * Starts each of these jobs once from now on: a waiting one is due now, and a running one runs once more. Its
 * caller has stored their input; it calls again if its process dies before.
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

/** The reason of a job's aborted signal. */
export class JobAborted extends Error {
  readonly reason: AbortReason

  constructor(reason: AbortReason, options?: ErrorOptions) {
    super(abortMessages[reason], options)
    this.name = 'JobAborted'
    this.reason = reason
  }
}

/**
 * Thrown by a handler that has more to do, after working for a while or until a time: the job runs again
 * after others that are due then. This is no failure, and resets the count of failures.
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
