/** Each lane has its own places, so its jobs do not wait for another lane: a crawl delays no delivery. */
export const lanes = ['documents', 'turns', 'executions', 'deliveries', 'timers'] as const
export type Lane = (typeof lanes)[number]

export interface LaneLimits {
  /** Max jobs at a time in this process. */
  concurrency: number
  /** Max jobs of one agent among them, so that no agent blocks the others. */
  perAgent: number
}

/**
 * Documents take processor time and memory; the other lanes mostly wait for servers. Each webhook of an
 * agent, of at most 50, has one job at a time: none waits for another's receiver.
 */
export const laneLimits: Readonly<Record<Lane, LaneLimits>> = {
  documents: { concurrency: 4, perAgent: 2 },
  turns: { concurrency: 48, perAgent: 12 },
  executions: { concurrency: 48, perAgent: 12 },
  deliveries: { concurrency: 250, perAgent: 60 },
  timers: { concurrency: 16, perAgent: 4 },
}

/** One value for each lane. */
export type ByLane<Value> = Readonly<Record<Lane, Value>>

export function byLane<Value>(create: (lane: Lane) => Value): ByLane<Value> {
  return Object.fromEntries(lanes.map(lane => [lane, create(lane)])) as Record<Lane, Value>
}

/** The lane of jobs without a handler, in which they fail. */
export const defaultLane: Lane = 'documents'
