import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { inTransaction } from '#platform/transaction.ts'

/** Milliseconds after which a transaction is committed: other writers wait no longer than this and one more item. */
const budget = 10

/** The shortest turn of the others, longer than the pauses in which they look whether the database is free. */
const shortestTurn = 6

/**
 * Does `work` for each item, in order, in as few transactions as the time that one may take allows. After each one other
 * writers get as long a turn; what an error or a crash interrupts is done up to the last commit.
 */
export async function inShortTransactions<Tables, Item>(
  db: Kysely<Tables>,
  items: readonly Item[],
  work: (transaction: Transaction<Tables>, item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values()
  let next = rest.next()
  while (!next.done) {
    const taken = await inTransaction(db, async transaction => {
      // From here on, since waiting for the lock holds up nobody.
      const begun = performance.now()
      for (; !next.done && performance.now() - begun < budget; next = rest.next()) {
        await work(transaction, next.value)
      }
      return performance.now() - begun
    })
    await delay(Math.max(shortestTurn, taken))
  }
}
