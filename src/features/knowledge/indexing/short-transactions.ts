import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { inTransaction } from '#platform/transactions/transaction.ts'

/** Max time of a transaction, and min time for others after it (ms). */
interface Turns {
  own: number
  others: number
}

/**
 * With a single writer, others wait at most one turn and one item; their turn is longer than the pauses in
 * which they poll for the lock.
 */
const takingTurns: Turns = { own: 10, others: 6 }
const amongWriters: Turns = { own: 100, others: 0 }

interface Database<Tables, Item> {
  db: Kysely<Tables>
  /** True if the engine allows only one writer. */
  singleWriter: boolean
  /** Called at the beginning of each transaction. */
  begin?(transaction: Transaction<Tables>): Promise<void>
  /** Called at the end of each transaction, with the last item that was processed in it. */
  end?(transaction: Transaction<Tables>, last: Item): Promise<void>
}

/**
 * The work for an item depends only on rows that each of these transactions changes first. At a stricter
 * isolation level, transactions of different sources would repeatedly fail because their new rows share
 * pages.
 */
const isolation = 'repeatable read'

interface Time {
  /** Returns milliseconds after any fixed moment. */
  now(): number
  pause(milliseconds: number): Promise<unknown>
}

export function createShortTransactions({ now, pause }: Time) {
  /**
   * The time from which this thread may write again, by `now`. Its work until then, such as preparing its
   * next writes, does not delay others.
   */
  let nextTurn = 0

  return async <Tables, Item>(
    { db, singleWriter, begin, end }: Database<Tables, Item>,
    items: readonly Item[],
    work: (transaction: Transaction<Tables>, item: Item) => Promise<void>,
  ): Promise<void> => {
    const turns = singleWriter ? takingTurns : amongWriters
    for (let done = 0; done < items.length; ) {
      const rest = turns.others > 0 ? nextTurn - now() : 0
      if (rest > 0) await pause(rest)
      const transact = async (transaction: Transaction<Tables>) => {
        // Measured from here because waiting for the lock delays no other writer.
        const begun = now()
        await begin?.(transaction)
        let next = done
        let last: Item | undefined
        for (const item of items.slice(done)) {
          if (now() - begun >= turns.own) break
          await work(transaction, item)
          last = item
          next += 1
        }
        if (last !== undefined) await end?.(transaction, last)
        return { next, taken: now() - begun }
      }
      const turn = await inTransaction(db, transact, isolation)
      done = turn.next
      nextTurn = now() + Math.max(turns.others, turn.taken)
    }
  }
}

/**
 * Does `work` for each item, in order, in as few transactions as the time limit of each allows. Others that
 * might wait get a turn after each; after an error or a crash, everything up to the last commit is done.
 */
export const inShortTransactions = createShortTransactions({ now: () => performance.now(), pause: delay })
