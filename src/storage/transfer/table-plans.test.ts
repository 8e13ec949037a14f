import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { openStorage } from '#test/support/storage.ts'
import { agentPlans, copiedTables, platformPlans, requirePlans } from './table-plans.ts'

test('a table without a plan is refused, and so is a plan without its table', () => {
  const plans = { one: { key: ['id'] as [string] }, two: { instead: 'made anew' } }
  expect(() => requirePlans(['one', 'two', 'kysely_migration', 'vectors'], plans, ['vectors'])).not.toThrow()
  expect(() => requirePlans(['one', 'two', 'three'], plans)).toThrow('nothing says how to copy: three')
  expect(() => requirePlans(['one'], plans)).toThrow('there is no table two')
})

describe('the plans', () => {
  test('follow the foreign keys, name primary keys, and know every column that numbers rows', async () => {
    const { agentDatabases, platform, addAgent } = await openStorage()
    await addAgent('a')
    await agentDatabases.use('a', async ({ db }) => {
      for (const [database, plans] of [
        [db, agentPlans],
        [platform, platformPlans],
      ] as const) {
        const tables = copiedTables(plans)
        for (const [index, [table, plan]] of tables.entries()) {
          const { rows: parents } = await sql<{ name: string }>`
            select "table" as name from pragma_foreign_key_list(${table})`.execute(database)
          const before = tables.slice(0, index).map(([name]) => name)
          for (const { name } of parents) expect(before, table).toContain(name)

          const { rows: keys } = await sql<{ name: string }>`
            select name from pragma_table_info(${table}) where pk > 0 order by pk`.execute(database)
          expect(
            keys.map(({ name }) => name),
            table,
          ).toEqual(plan.key)

          const { rows: made } = await sql<{ sql: string }>`
            select sql from sqlite_schema where name = ${table}`.execute(database)
          expect(/autoincrement/i.test(made[0]?.sql ?? ''), table).toBe(plan.numbered !== undefined)
        }
      }
    })
  })
})
