import type { JobAgent, JobContext, JobHandler } from './jobs.ts'

/** What happened to an agent, for one of its subscriptions. */
export interface AgentEvent {
  /** The same for all subscriptions. */
  id: string
  name: string
  /** Milliseconds since the epoch. */
  time: number
  /** Names the subscriber, such as one of the agent's webhooks. */
  ref: string
  payload: unknown
}

/** Handles events for all subscribers of one kind: as a job for each event and subscriber, with the guarantees of jobs. */
export interface EventHandler<Agent extends JobAgent> extends Omit<JobHandler<Agent>, 'run' | 'onFailed'> {
  handle(event: AgentEvent, context: JobContext<Agent>): Promise<void>
  /** As `onFailed` of a job. */
  onFailed?(event: AgentEvent, context: JobContext<Agent>, error: string): Promise<void>
}

/** In a subscription: every event of the agent, also those of later versions. */
export const anyEvent = '*'

/** The name of the jobs that hand events to the subscribers of a kind. */
export function eventJobName(kind: string): string {
  return `event:${kind}`
}

/** The payload was written by `outbox.emit`. */
export function eventJob<Agent extends JobAgent>(handler: EventHandler<Agent>): JobHandler<Agent> {
  const { handle, onFailed, ...options } = handler
  const eventOf = ({ payload }: JobContext<Agent>) => payload as AgentEvent
  return {
    ...options,
    run: context => handle(eventOf(context), context),
    onFailed: async (context, error) => await onFailed?.(eventOf(context), context, error),
  }
}
