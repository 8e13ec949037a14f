/** Each lane has places of its own, so that none of its jobs waits for those of another: a crawl delays no delivery. */
export const lanes = ['documents', 'turns', 'executions', 'deliveries', 'timers'] as const
export type Lane = (typeof lanes)[number]

export interface LaneLimits {
  /** Jobs that run at a time in this process. */
  concurrency: number
  /** Jobs of one agent among them, so that no agent holds up the others. */
  perAgent: number
}

/**
 * Documents take processor time and memory; the other lanes mostly wait for servers. Each of the webhooks of an agent, of
 * which there are 50 at most, has one job at a time: none waits for another's receiver.
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

/** Where jobs are that have no handler: they fail there. */
export const defaultLane: Lane = 'documents'
