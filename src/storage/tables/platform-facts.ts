import type { FactsTable } from './facts.ts'
import { definePlatformTables } from './table-set.ts'

/** Single values of the platform, by name. */
export interface PlatformFactTables {
  platform_facts: FactsTable
}

export const platformFactTables = definePlatformTables<PlatformFactTables>({
  rules: {
    platform_facts: { copy: { key: ['name'] } },
  },
  async create(db, parts) {
    await parts.createFoldCase(db)
    await db.schema
      .createTable('platform_facts')
      .addColumn('name', parts.textType, column => column.primaryKey())
      .addColumn('value', parts.textType, column => column.notNull())
      .execute()
  },
})
