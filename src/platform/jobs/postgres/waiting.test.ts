import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { setJobStage } from '#test/support/job-stage.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { addWaiting } from '#test/support/waiting-entries.ts'
import type { JobAgent, OutboxDatabase } from '../jobs.ts'
import { lanes } from '../lanes.ts'
import { findDue, leaseFound } from '../leasing.ts'

/** Rows of the outbox that this transaction has read. */
async function rowsRead(db: OutboxDatabase): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as count from pg_stat_xact_user_tables
    where relname = 'outbox'`.execute(db)
  return Number(rows[0]?.count)
}

test.each(['without', 'with'])(
  'looks read what is due and nothing that waits, %s statistics of the planner',
  async kind => {
    const clock = manualClock()
    const stage = await setJobStage({}, { clock })
    await addWaiting(stage.agentDatabases, 10_000)
    for (const payload of [1, 2, 3]) await stage.add('note', { payload })
    await stage.agentDatabases.use('a', async (agent: JobAgent) => {
      const { db } = agent
      if (kind === 'with') await sql`analyze outbox`.execute(db)
      const running = { ids: ['waiting 1', 'waiting 2'], keys: ['key 1', 'key 2'] }
      const lease = { holder: 'first', now: clock.now(), expiresAt: clock.now() + 30_000, limit: 2, running }
      const read = await db.transaction().execute(async transaction => {
        const leased = []
        for (const lane of lanes) {
          const { due } = await findDue(transaction, { ...lease, lane })
          leased.push(...(await leaseFound(transaction, due, lease)))
          await findDue(transaction, { ...lease, lane })
        }
        expect(leased).toHaveLength(2)
        return await rowsRead(transaction)
      })
      expect(read).toBeGreaterThan(0)
      expect(read).toBeLessThan(100)
    })
  },
)
