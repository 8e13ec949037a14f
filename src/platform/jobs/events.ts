import { inSnakeCase } from './event-payloads.ts'
import type { JobAgent, JobContext, JobHandler } from './jobs.ts'

/** An event of an agent, for one of its subscriptions. */
export interface AgentEvent {
  /** Id of the event, the same for all subscriptions. */
  id: string
  name: string
  /** Milliseconds since the epoch. */
  time: number
  /** The subscriber, such as one of the agent's webhooks. */
  ref: string
  payload: unknown
  /** The depth of the execution that caused it; see `causeDepth`. */
  depth?: number
}

/** An event for all subscriptions of one kind. */
export interface SharedEvent extends Omit<AgentEvent, 'ref'> {
  /** The subscribers in order. */
  refs: readonly string[]
}

/** Handles events for all subscribers of one kind: as a job for each event and subscriber, with the guarantees of jobs. */
export interface EventHandler<Agent extends JobAgent, Event = AgentEvent>
  extends Omit<JobHandler<Agent>, 'run' | 'onFailed'> {
  handle(event: Event, context: JobContext<Agent>): Promise<void>
  /** Called like `onFailed` of a job. */
  onFailed?(event: Event, context: JobContext<Agent>, error: string): Promise<void>
}

/** Handles events as one job each, for all subscribers of one kind: its failure repeats it for all of them. */
export interface SharedEventHandler<Agent extends JobAgent> extends EventHandler<Agent, SharedEvent> {
  isShared: true
}

/** Subscribes to every event of the agent, also to those of later versions. */
export const anyEvent = '*'

/** Returns the name of the jobs that deliver events to subscribers of a kind. */
export function eventJobName(kind: string): string {
  return `event:${kind}`
}

/** Creates the handler of jobs whose payload `outbox.emit` has written. */
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
