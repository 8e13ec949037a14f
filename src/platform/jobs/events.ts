import { inSnakeCase } from './event-payloads.ts'
import type { JobAgent, JobContext, JobHandler } from './jobs.ts'

/** An event of an agent, for one of its subscriptions. */
export interface AgentEvent {
  /** The same for all subscriptions. */
  id: string
  name: string
  /** Milliseconds since the epoch. */
  time: number
  /** Names the subscriber, such as one of the agent's webhooks. */
  ref: string
  payload: unknown
  /** Of the execution that has caused it; see `causeDepth`. */
  depth?: number
}

/** For all subscriptions of one kind. */
export interface SharedEvent extends Omit<AgentEvent, 'ref'> {
  /** In order. */
  refs: readonly string[]
}

/** Handles events for all subscribers of one kind: as a job for each event and subscriber, with the guarantees of jobs. */
export interface EventHandler<Agent extends JobAgent, Event = AgentEvent>
  extends Omit<JobHandler<Agent>, 'run' | 'onFailed'> {
  handle(event: Event, context: JobContext<Agent>): Promise<void>
  /** As `onFailed` of a job. */
  onFailed?(event: Event, context: JobContext<Agent>, error: string): Promise<void>
}

/** Handles events as one job each, for all subscribers of one kind: its failure repeats it for all of them. */
export interface SharedEventHandler<Agent extends JobAgent> extends EventHandler<Agent, SharedEvent> {
  isShared: true
}

/** In a subscription: every event of the agent, also those of later versions. */
export const anyEvent = '*'

/** The name of the jobs that hand events to the subscribers of a kind. */
export function eventJobName(kind: string): string {
  return `event:${kind}`
}

/** The payload was written by `outbox.emit`. */
export function eventJob<Agent extends JobAgent>(
  handler: EventHandler<Agent> | SharedEventHandler<Agent>,
): JobHandler<Agent> {
  const { handle, onFailed, ...options } = handler as EventHandler<Agent, unknown>
  return {
    ...options,
    run: context => handle(asDeclared(context.payload), context),
    onFailed: async (context, error) => await onFailed?.(asDeclared(context.payload), context, error),
  }
}

function asDeclared(event: unknown): object {
  const { payload, ...others } = event as Pick<AgentEvent, 'payload'>
  return { ...others, payload: inSnakeCase(payload) }
}
