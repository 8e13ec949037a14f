import { randomUUID } from 'node:crypto'
import type { WakeUpQueue } from './queue.ts'

/** A wake-up in advance for running transactions of one agent in this process. */
interface Cover {
  id: string
  underWay: number
  /** Time of the monotonic clock, like all times here. */
  lastUse: number
  /** Time from which it can come too early for a transaction that begins. */
  usableUntil: number
  stored: Promise<void>
}

/** Time ahead at which a cover is due (ms): longer than nearly all transactions, even late ones. */
const coverAhead = 20_000
const usableFor = 10_000
/** Time that a cover stays after its last use, for the next transaction. */
const keptFor = 2_000

/**
 * Ensures that each transaction has a wake-up before it commits. Transactions of one agent share it. It is
 * removed only if the work of all of them certainly has its own wake-up; otherwise it stays.
 */
export class Covers {
  readonly #queue: WakeUpQueue
  readonly #covers = new Map<string, Cover>()

  constructor(queue: WakeUpQueue) {
    this.#queue = queue
  }

  /** Returns a function to call after the transaction's work has its own wake-up, or else never. */
  async begin(agentId: string): Promise<() => void> {
    const cover = this.#usable(agentId) ?? this.#store(agentId)
    cover.underWay += 1
    cover.lastUse = performance.now()
    await cover.stored
    return () => {
      cover.underWay -= 1
      cover.lastUse = performance.now()
    }
  }

  /** Removes unused covers in one statement, and forgets past ones. */
  async sweep(unusedFor = keptFor): Promise<void> {
    const now = performance.now()
    const unused: string[] = []
    for (const [agentId, { id, underWay, lastUse, usableUntil }] of this.#covers) {
      const isUnused = underWay === 0 && lastUse + unusedFor <= now
      if (isUnused) unused.push(id)
      if (isUnused || usableUntil + coverAhead <= now) this.#covers.delete(agentId)
    }
    await this.#queue.remove(unused)
  }

  #usable(agentId: string): Cover | undefined {
    const cover = this.#covers.get(agentId)
    return cover !== undefined && performance.now() < cover.usableUntil ? cover : undefined
  }

  #store(agentId: string): Cover {
    const id = randomUUID()
    const now = performance.now()
    const stored = this.#queue.addLater({ id, agentId, covers: 'transactions' }, coverAhead)
    const cover = { id, underWay: 0, lastUse: now, usableUntil: now + usableFor, stored }
    this.#covers.set(agentId, cover)
    stored.catch(() => {
      if (this.#covers.get(agentId) === cover) this.#covers.delete(agentId)
    })
    return cover
  }
}
