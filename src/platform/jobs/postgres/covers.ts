import { randomUUID } from 'node:crypto'
import type { WakeUpQueue } from './queue.ts'

/** A wake-up ahead of time for transactions of one agent that are under way in this process. */
interface Cover {
  id: string
  underWay: number
  /** By the monotonic clock, like all times here. */
  lastUse: number
  /** From then on it may come too early for a transaction that begins. */
  usableUntil: number
  stored: Promise<void>
}

/** Milliseconds. How far ahead a cover is due: longer than nearly all transactions take, however late they begin to use it. */
const coverAhead = 20_000
const usableFor = 10_000
/** A cover stays this long after its last use, for the next transaction. */
const keptFor = 2_000

/**
 * Sees to it that each transaction has a wake-up that is there before it commits. Transactions of one agent share it, and
 * it is taken back only when the work of all of them is known to have a wake-up of its own; otherwise it is left to come.
 */
export class Covers {
  readonly #queue: WakeUpQueue
  readonly #covers = new Map<string, Cover>()

  constructor(queue: WakeUpQueue) {
    this.#queue = queue
  }

  /** Gives what is to be called after the transaction's work has a wake-up of its own, or else never. */
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

  /** Takes back covers that are no longer used, in one statement, and forgets those that have come. */
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
