import { type Insertable, type Kysely, sql } from 'kysely'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { UsageQuery } from './usage.schema.ts'

export type UsageDatabase = Kysely<PlatformTables>
export type UsageRow = Required<Insertable<PlatformTables['usage']>>

const key = ['agent_id', 'day', 'author', 'model'] as const
export const usageCounts = [
  'turns',
  'calls',
  'input_tokens',
  'cached_tokens',
  'output_tokens',
  'estimated_tokens',
  'cost',
  'unpriced_calls',
] as const

const counted = [...usageCounts, 'platform_tokens', 'platform_cost'] as const

export type UsageCounts = Record<(typeof usageCounts)[number], number>

const addRow = prepareQuery((database: UsageDatabase, value: ValueOf<keyof UsageRow>) => {
  const values = Object.fromEntries([...key, 'person' as const, ...counted].map(name => [name, value(name)]))
  return database
    .insertInto('usage')
    .values(values as unknown as UsageRow)
    .onConflict(conflict =>
      conflict
        .columns(key)
        .doUpdateSet(({ eb, ref }) =>
          Object.fromEntries(
            counted.map(name => [name, eb(`usage.${name}`, '+', ref(`excluded.${name}`))] as const),
          ),
        ),
    )
})

/** Adds to the row of the day, or begins it: one statement, so that no process overwrites another's addition. */
export async function addUsage(database: UsageDatabase, row: UsageRow): Promise<void> {
  await addRow(database, row)
}

const groups = {
  day: sql<string | null>`day`,
  model: sql<string | null>`model`,
  person: sql<string | null>`nullif(person, '')`,
  key: sql<string | null>`case when author like 'key:%' then substr(author, 5) end`,
}

/** Returns the sums of an agent's usage by group. */
export async function sumUsage(
  database: UsageDatabase,
  { agentId, from, to, group }: Required<UsageQuery> & { agentId: string },
) {
  const rows = await database
    .selectFrom('usage')
    .select(groups[group].as('value'))
    .select(({ fn }) => usageCounts.map(name => fn.sum<number | string>(name).as(name)))
    .where('agent_id', '=', agentId)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy(sql`1`)
    .orderBy(sql`1`)
    .execute()
  // PostgreSQL returns sums in a type without bounds, as text.
  const countsIn = (row: (typeof rows)[number]) =>
    Object.fromEntries(usageCounts.map(name => [name, Number(row[name])])) as UsageCounts
  return rows.map(row => ({ value: row.value, ...countsIn(row) }))
}
