import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createGate, setJobStage } from '#test/support/job-stage.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { inTransaction } from './transaction.ts'

/** An agent's database of its own, and another connection to it. */
async function openTwice() {
  const stage = await setJobStage({}, { clock: manualClock() })
  const agent = await stage.agentDatabases.acquire('a')
  const other = await stage.openAgent('a')
  onTestFinished(() => other.db.destroy())
  const { db } = agent
  const factsOf = async (reader: typeof db) => {
    const rows = await reader.selectFrom('agent_facts').select('name').orderBy('name').execute()
    return rows.map(({ name }) => name)
  }
  const store = (transaction: typeof db, name: string) =>
    transaction.insertInto('agent_facts').values({ name, value: '' }).execute()
  return { db, store, facts: () => factsOf(db), factsOutside: () => factsOf(other.db) }
}

const moment = () => new Promise(resolve => setImmediate(resolve))

test('transactions of one moment are committed together, and none is told of its success before', async () => {
  const { db, store, factsOutside } = await openTwice()
  const gate = createGate()
  const told: string[] = []
  const first = inTransaction(db, transaction => store(transaction, 'first')).then(() => told.push('first'))
  const second = inTransaction(db, async transaction => {
    await store(transaction, 'second')
    await gate.pass()
  }).then(() => told.push('second'))
  await gate.reached
  await moment()
  expect(told).toEqual([])
  expect(await factsOutside()).toEqual([])
  gate.open()
  await first
  expect(await factsOutside()).toEqual(['first', 'second'])
  await second
  expect(told).toEqual(['first', 'second'])
})

test('one that fails is undone; those before and after it are kept', async () => {
  const { db, store, facts } = await openTwice()
  const outcomes = await Promise.allSettled([
    inTransaction(db, transaction => store(transaction, 'before')),
    inTransaction(db, async transaction => {
      await store(transaction, 'failing')
      throw new Error('changed my mind')
    }),
    inTransaction(db, transaction => store(transaction, 'before')),
    inTransaction(db, async transaction => {
      await store(transaction, 'after')
      return 'result'
    }),
  ])
  expect(outcomes).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { message: 'changed my mind' } },
    { status: 'rejected', reason: { message: expect.stringContaining('UNIQUE') } },
    { status: 'fulfilled', value: 'result' },
  ])
  expect(await facts()).toEqual(['after', 'before'])
})

test('where the commit fails, only the one that is to blame does', async () => {
  const { db, store, facts } = await openTwice()
  const orphan = {
    id: 'm',
    conversation_id: 'none',
    role: 'user',
    content: '',
    tool_calls: null,
    tool_results: null,
    metadata: null,
    created_at: '',
  }
  const outcomes = await Promise.allSettled([
    inTransaction(db, transaction => store(transaction, 'one')),
    inTransaction(db, async transaction => {
      await sql`pragma defer_foreign_keys = on`.execute(transaction)
      await transaction.insertInto('messages').values(orphan).execute()
    }),
    inTransaction(db, transaction => store(transaction, 'other')),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await facts()).toEqual(['one', 'other'])
})

test('where the database gives the whole up by itself, as on a full disk, each is tried alone', async () => {
  const { db, store, facts } = await openTwice()
  let attempts = 0
  await Promise.all([
    inTransaction(db, transaction => store(transaction, 'one')),
    inTransaction(db, async transaction => {
      attempts += 1
      if (attempts > 1) return await store(transaction, 'other')
      await sql`rollback`.execute(transaction)
      throw new Error('database or disk is full')
    }),
  ])
  expect(attempts).toBe(2)
  expect(await facts()).toEqual(['one', 'other'])
})
