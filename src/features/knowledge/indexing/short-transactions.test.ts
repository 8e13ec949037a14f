import { setTimeout as delay } from 'node:timers/promises'
import { Kysely } from 'kysely'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { TransactionConflict } from '#platform/transactions/transaction.ts'
import { createSqliteDialect } from '#storage/sqlite/connections/dialect.ts'
import { openDatabase } from '#storage/sqlite/connections/open.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { createShortTransactions } from './short-transactions.ts'

interface Tables {
  notes: { number: number }
}

async function openNotes() {
  const path = `${temporaryDirectory()}/notes.db`
  const open = () => {
    const database = openDatabase(path, { synchronous: 'normal', busyTimeout: 1_000 })
    const db = new Kysely<Tables>({ dialect: createSqliteDialect({ database }) })
    onTestFinished(() => db.destroy())
    return db
  }
  const db = open()
  await db.schema.createTable('notes').addColumn('number', 'integer').execute()
  const read = async () =>
    (await db.selectFrom('notes').select('number').execute()).map(({ number }) => number)
  return { db, read, other: open() }
}

/** Time stands still, save for what the work takes; the pauses are made all the same. */
let time = 0
const take = (milliseconds: number) => {
  time += milliseconds
}
const pause = vi.fn((milliseconds: number) => {
  take(milliseconds)
  return delay(milliseconds)
})
let inShortTransactions: ReturnType<typeof createShortTransactions>
beforeEach(() => {
  pause.mockClear()
  inShortTransactions = createShortTransactions({ now: () => time, pause })
})

const numbers = Array.from({ length: 8 }, (_, index) => index)

test('every item is done once, in order', async () => {
  const { db, read } = await openNotes()
  await inShortTransactions({ db, singleWriter: true }, numbers, async (transaction, number) => {
    await transaction.insertInto('notes').values({ number }).execute()
  })
  expect(await read()).toEqual(numbers)
})

test('nothing to do takes no transaction', async () => {
  const { db } = await openNotes()
  await db.destroy()
  await expect(inShortTransactions({ db, singleWriter: true }, [], async () => {})).resolves.toBeUndefined()
})

test('a transaction ends once its time is over, and another writer has its turn', async () => {
  const { db, read, other } = await openNotes()
  const written: Promise<unknown>[] = []
  await inShortTransactions({ db, singleWriter: true }, numbers, async (transaction, number) => {
    await transaction.insertInto('notes').values({ number }).execute()
    take(6)
    if (number === 0)
      setImmediate(() => written.push(other.insertInto('notes').values({ number: 100 }).execute()))
  })
  await Promise.all(written)
  expect((await read()).indexOf(100)).toBe(2)
})

test('what is done between two calls counts as the turn of the others', async () => {
  const { db } = await openNotes()
  const write = (number: number) =>
    inShortTransactions({ db, singleWriter: true }, [number], async transaction => {
      await transaction.insertInto('notes').values({ number }).execute()
      take(6)
    })
  await write(0)
  take(7)
  await write(1)
  expect(pause).not.toHaveBeenCalled()
  await write(2)
  expect(pause).toHaveBeenCalledExactlyOnceWith(6)
})

test('a transaction that is done anew begins with its first item', async () => {
  const { db, read } = await openNotes()
  let conflicts = 1
  await inShortTransactions({ db, singleWriter: false }, numbers, async (transaction, number) => {
    if (number === 5 && conflicts-- > 0) throw new TransactionConflict(undefined)
    await transaction.insertInto('notes').values({ number }).execute()
    take(30)
  })
  expect(await read()).toEqual(numbers)
})

test('what is committed stays when a later item fails', async () => {
  const { db, read } = await openNotes()
  const failing = inShortTransactions({ db, singleWriter: true }, numbers, async (transaction, number) => {
    if (number === 5) throw new Error('disk full')
    await transaction.insertInto('notes').values({ number }).execute()
    take(6)
  })
  await expect(failing).rejects.toThrow('disk full')
  expect(await read()).toEqual([0, 1, 2, 3])
})
