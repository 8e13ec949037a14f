import pg from 'pg'
import { onTestFinished } from 'vitest'
import { type Clock, systemClock } from '#platform/clock.ts'
import { type ByLane, lanes } from '#platform/jobs/lanes.ts'
import { type QueueDatabase, schema } from '#platform/jobs/postgres/queue.ts'
import { createWakeUps } from '#platform/jobs/postgres/wake-ups.ts'
import type { WakeUps } from '#platform/jobs/wake-ups.ts'
import { createLog } from '#platform/logging/log.ts'

interface Options {
  url: string
  direct: QueueDatabase
  clock: Clock
}

/** Wake-ups for which it is as late as the clock says, also on the server. */
export async function openSharedWakeUps({ url, direct, clock }: Options): Promise<ByLane<WakeUps>> {
  const log = createLog('silent')
  if (clock === systemClock) return await createWakeUps({ database: direct, clock, log })
  const database = clockedDatabase(url, direct, clock)
  const wakeUps = await createWakeUps({ database, clock, log })
  // Processes that start together would replace the function at the same moment, which the server refuses.
  await database.executeSql(`do $$ begin
    perform pg_advisory_xact_lock(hashtext('job_now'));
    create or replace function ${schema}.job_now() returns timestamptz language sql stable
      return to_timestamp(current_setting('test.now')::float8 / 1000);
  end $$`)
  return wakeUps
}

/** Tells the server the time before each statement. */
function clockedDatabase(url: string, direct: QueueDatabase, clock: Clock): QueueDatabase {
  const pool = new pg.Pool({ connectionString: url, max: 3 })
  // The database may be dropped while the queue still asks something.
  pool.on('connect', client => client.on('error', () => {}))
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  return {
    listen: direct.listen,
    async executeSql(text, values) {
      const client = await pool.connect()
      try {
        await client.query(`select set_config('test.now', $1, false)`, [`${clock.now()}`])
        const result = await client.query(text, values)
        client.release()
        return result
      } catch (error) {
        // It may have failed in a transaction that is still open.
        client.release(true)
        throw error
      }
    },
  }
}

/** The wake-ups that are stored, or those for which a condition holds, in the form of the other engine. */
export async function sharedWakeUpRows(direct: QueueDatabase, condition = 'true') {
  const { rows } = await direct.executeSql(
    `
    select data->>'agentId' as agent_id, start_after as due_at from ${schema}.job
    where name = any($1) and state < 'completed' and ${condition}
    order by agent_id, due_at`,
    [lanes],
  )
  return rows.map((row: { agent_id: string; due_at: Date }) => ({
    agent_id: row.agent_id,
    due_at: row.due_at.toISOString(),
  }))
}
