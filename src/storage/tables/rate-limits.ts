import { definePlatformTables } from './table-set.ts'

/** Requests that all processes have admitted. */
export interface RateLimitTables {
  rate_limits: RateLimitsTable
}

/** Requests that all processes have admitted: one row per limit and client, until its minute is over. */
interface RateLimitsTable {
  key: string
  points: number
  expires_at: string
}

export const rateLimitTables = definePlatformTables<RateLimitTables>({
  rules: {
    rate_limits: { copy: { instead: 'counts of a minute that is over before a service runs on the copy' } },
  },
  async create(db, parts) {
    await parts
      .shortLived(db.schema.createTable('rate_limits'))
      .addColumn('key', parts.textType, column => column.primaryKey())
      .addColumn('points', 'integer', column => column.notNull())
      .addColumn('expires_at', parts.textType, column => column.notNull())
      .execute()
  },
})
