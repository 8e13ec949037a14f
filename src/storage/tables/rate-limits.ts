import { integer, text } from '#platform/columns.ts'
import { declarePlatformTables } from './table-set.ts'

/** Requests that all processes have admitted: one row per limit and client, until its minute is over. */
export const rateLimitTables = declarePlatformTables({
  rate_limits: {
    columns: {
      key: text,
      points: integer,
      expires_at: text,
    },
    isShortLived: true,
    instead: 'counts of a minute that is over before a service runs on the copy',
    key: ['key'],
  },
})
