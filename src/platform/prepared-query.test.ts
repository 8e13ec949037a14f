import type { Kysely } from 'kysely'
import { expect, it } from 'vitest'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { PlatformTables } from '#storage/tables.ts'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { prepareQuery } from './prepared-query.ts'

const selectName = prepareQuery((database: Kysely<PlatformTables>, value: (name: 'id') => string) =>
  database.selectFrom('agents').select('name').where('id', '=', value('id')),
)

const renameTo = prepareQuery((database: Kysely<PlatformTables>, value: (name: 'name') => string) =>
  database
    .updateTable('agents')
    .set({ name: value('name') })
    .where('id', '=', 'one')
    .returning('name'),
)

async function storage() {
  const opened = await openEmbeddedStorage()
  await opened.addAgent('one')
  const rename = (database: Kysely<PlatformTables>, name: string) =>
    database.updateTable('agents').set({ name }).where('id', '=', 'one').execute()
  return { ...opened, rename }
}

it('finds what was written last, each time with its own values', async () => {
  const { platform, rename } = await storage()
  expect(await selectName(platform, { id: 'one' })).toEqual([{ name: 'one' }])
  expect(await selectName(platform, { id: 'two' })).toEqual([])
  await rename(platform, 'other')
  expect(await selectName(platform, { id: 'one' })).toEqual([{ name: 'other' }])
})

it('sees a transaction from within alone, and from without what came of it', async () => {
  const { platform, rename } = await storage()
  const renamed = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  const running = platform.transaction().execute(async transaction => {
    await rename(transaction, 'other')
    expect(await selectName(transaction, { id: 'one' })).toEqual([{ name: 'other' }])
    renamed.resolve()
    await mayEnd.promise
    throw new Error('undo')
  })
  const ended = expect(running).rejects.toThrow('undo')
  await renamed.promise
  const outside = selectName(platform, { id: 'one' })
  mayEnd.resolve()
  await ended
  expect(await outside).toEqual([{ name: 'one' }])
})

it('writes as a part of its transaction, which may undo it', async () => {
  const { platform } = await storage()
  const failing = inTransaction(platform, async transaction => {
    expect(await renameTo(transaction, { name: 'other' })).toEqual([{ name: 'other' }])
    expect(await selectName(transaction, { id: 'one' })).toEqual([{ name: 'other' }])
    throw new Error('undo')
  })
  await expect(failing).rejects.toThrow('undo')
  expect(await selectName(platform, { id: 'one' })).toEqual([{ name: 'one' }])
  await inTransaction(platform, transaction => renameTo(transaction, { name: 'other' }))
  expect(await selectName(platform, { id: 'one' })).toEqual([{ name: 'other' }])
})

it('writes nothing for a transaction that has ended, not even while another runs', async () => {
  const { platform } = await storage()
  const ended = await inTransaction(platform, async transaction => transaction)
  await expect(renameTo(ended, { name: 'other' })).rejects.toThrow(/committed/)
  await inTransaction(platform, async () => {
    await expect(renameTo(ended, { name: 'other' })).rejects.toThrow(/committed/)
  })
  await platform.transaction().execute(async () => {
    await expect(renameTo(ended, { name: 'other' })).rejects.toThrow(/committed/)
  })
  expect(await selectName(platform, { id: 'one' })).toEqual([{ name: 'one' }])
})

it('fails on a database that is closed', async () => {
  const { platform, close } = await storage()
  await selectName(platform, { id: 'one' })
  await close()
  await expect(selectName(platform, { id: 'one' })).rejects.toThrow()
})
