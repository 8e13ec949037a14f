import type { ExpressionBuilder, Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import type { RequestCount, SharedCounts } from '#platform/http/rate-limits/shared-counts.ts'
import type { PlatformTables } from './tables.ts'

type Database = Kysely<Pick<PlatformTables, 'rate_limits'>>

/** Milliseconds between two removals of expired counts. */
const removalInterval = 60_000
/** Max rows of a statement: engines limit the number of its parameters. */
const rowsAtOnce = 5_000

/** The rate limit counts of all processes that share the platform database. */
export function createSharedCounts(db: Database, clock: Clock): SharedCounts {
  let removeAt = 0
  return {
    async add(counts) {
      const now = clock.now()
      if (removeAt <= now) {
        removeAt = now + removalInterval
        await db.deleteFrom('rate_limits').where('expires_at', '<=', toText(now)).execute()
      }
      // The order is the same everywhere, so that concurrent processes do not deadlock.
      const rows = counts.map(toRow).toSorted((one, other) => (one.key < other.key ? -1 : 1))
      const totals: RequestCount[] = []
      for (let start = 0; start < rows.length; start += rowsAtOnce)
        totals.push(...(await addRows(db, rows.slice(start, start + rowsAtOnce), toText(now))))
      return totals
    },
  }
}

type Row = ReturnType<typeof toRow>

async function addRows(db: Database, rows: Row[], now: string): Promise<RequestCount[]> {
  const totals = await db
    .insertInto('rate_limits')
    .values(rows)
    .onConflict(conflict =>
      conflict.column('key').doUpdateSet(eb => ({
        points: eb
          .case()
          .when(isOver(eb, now))
          .then(eb.ref('excluded.points'))
          .else(eb('rate_limits.points', '+', eb.ref('excluded.points')))
          .end(),
        expires_at: eb
          .case()
          .when(isOver(eb, now))
          .then(eb.ref('excluded.expires_at'))
          .else(eb.ref('rate_limits.expires_at'))
          .end(),
      })),
    )
    .returningAll()
    .execute()
  return totals.map(({ key, points, expires_at }) => ({ key, points, expiresAt: Date.parse(expires_at) }))
}

function isOver(eb: ExpressionBuilder<Pick<PlatformTables, 'rate_limits'>, 'rate_limits'>, now: string) {
  return eb('rate_limits.expires_at', '<=', now)
}

function toRow({ key, points, expiresAt }: RequestCount) {
  return { key, points, expires_at: toText(expiresAt) }
}

function toText(time: number): string {
  return new Date(time).toISOString()
}
