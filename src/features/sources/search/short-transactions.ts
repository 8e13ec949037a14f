import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { inTransaction } from '#platform/transaction.ts'

/** In milliseconds: how long a transaction goes on taking items, and how long others then get at least. */
interface Turns {
  own: number
  others: number
}

/**
 * Where there is a single writer, others wait no longer than a turn and one more item; theirs is longer than the pauses in
 * which they look whether the database is free.
 */
const takingTurns: Turns = { own: 10, others: 6 }
const amongWriters: Turns = { own: 100, others: 0 }

interface Database<Tables, Item> {
  db: Kysely<Tables>
  /** Of the database's engine. */
  singleWriter: boolean
  /** What each of the transactions begins with. */
  begin?(transaction: Transaction<Tables>): Promise<void>
  /** What each of them ends with, by the last item for which work was done in it. */
  end?(transaction: Transaction<Tables>, last: Item): Promise<void>
}

/**
 * What is done for an item depends only on rows that each of these transactions changes first. At a stricter level, those
 * of different sources would fail one another again and again, since their new rows lie in the same pages.
 */
const isolation = 'repeatable read'

/**
 * When this thread may write again, by `performance.now()`: what it does until then, such as preparing what it writes next,
 * takes nothing of the others' turn.
 */
let nextTurn = 0

/**
 * Does `work` for each item, in order, in as few transactions as the time that one may take allows. Where others wait for
 * them, they get as long a turn after each; what an error or a crash interrupts is done up to the last commit.
 */
export async function inShortTransactions<Tables, Item>(
  { db, singleWriter, begin, end }: Database<Tables, Item>,
  items: readonly Item[],
  work: (transaction: Transaction<Tables>, item: Item) => Promise<void>,
): Promise<void> {
  const turns = singleWriter ? takingTurns : amongWriters
  for (let done = 0; done < items.length; ) {
    const rest = turns.others > 0 ? nextTurn - performance.now() : 0
    if (rest > 0) await delay(rest)
    const transact = async (transaction: Transaction<Tables>) => {
      // From here on, since waiting for the lock holds up nobody.
      const begun = performance.now()
      await begin?.(transaction)
      let next = done
      let last: Item | undefined
      for (const item of items.slice(done)) {
        if (performance.now() - begun >= turns.own) break
        await work(transaction, item)
        last = item
        next += 1
      }
      if (last !== undefined) await end?.(transaction, last)
      return { next, taken: performance.now() - begun }
    }
    const turn = await inTransaction(db, transact, isolation)
    done = turn.next
    nextTurn = performance.now() + Math.max(turns.others, turn.taken)
  }
}
