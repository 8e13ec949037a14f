import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock.ts'
import type { OutboxDatabase } from './jobs.ts'
import type { ByLane, Lane } from './lanes.ts'
import { addEntry } from './outbox.ts'
import type { Announcement, WakeUps } from './wake-ups.ts'

export interface LateJobs {
  /** A job of the agent, to be left in one transaction; its id is that of the payload. */
  job(agentId: string, payloadOf: () => { id: string }): LateJob
  /** To be called before the waiting jobs of the agent are done: later ones get a wake-up of their own. */
  done(agentId: string): void
}

export interface LateJob {
  write(transaction: OutboxDatabase): Promise<void>
  /** Called once the transaction has ended. */
  ended(isCommitted: boolean): Promise<void>
}

interface Dependencies {
  wakeUps: ByLane<Pick<WakeUps, 'announce' | 'pull'>>
  clock: Clock
}

/** Until the jobs are due, and the part of that time which transactions certainly end in; in milliseconds. */
const delay = 3000
const margin = 1000

/**
 * For many small jobs of one name, which the first that runs does for all: they share one wake-up, so that each of them costs a
 * transaction no more than a row.
 */
export function createLateJobs({ wakeUps, clock }: Dependencies) {
  return (name: string, lane: Lane): LateJobs => {
    /** When an agent is certain to be woken up. */
    const dueTimes = new LRUCache<string, number>({ max: 10_000 })
    return {
      done: agentId => void dueTimes.delete(agentId),
      job(agentId, payloadOf) {
        let dueAt = 0
        let announcement: Announcement | undefined
        return {
          async write(transaction) {
            const now = clock.now()
            dueAt = dueTimes.get(agentId) ?? 0
            if (dueAt - now < margin || dueAt - now > delay) {
              announcement ??= await wakeUps[lane].announce(agentId)
              dueAt = now + delay
            }
            const payload = payloadOf()
            await addEntry(transaction, { id: payload.id, name, lane, key: null, payload, runAt: dueAt, now })
          },
          async ended(isCommitted) {
            await announcement?.settle(isCommitted ? dueAt : undefined)
            if (!isCommitted) return
            if (announcement !== undefined) dueTimes.set(agentId, dueAt)
            // The jobs that it was to wake up with have been done meanwhile.
            else if (dueTimes.get(agentId) !== dueAt || clock.now() >= dueAt)
              await wakeUps[lane].pull(agentId, dueAt)
          },
        }
      },
    }
  }
}
