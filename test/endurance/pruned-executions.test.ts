import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { testApp } from '../support/build-app.ts'
import { scaled } from '../support/endurance.ts'
import { manualClock } from '../support/manual-clock.ts'
import { passTime } from '../support/pass-time.ts'
import { workflowCalls } from '../support/workflows.ts'

const stored = scaled(100_000)
const kept = stored / 100
const nodes = ['start', 'fetch', 'check', 'send', 'last']
const rowsAtOnce = 500
const at = '2026-01-01T00:00:00.000Z'

/** The size of the agent's file after so many executions have ended and those beyond the latest were pruned. */
async function sizeAfter(count: number): Promise<number> {
  const clock = manualClock('2026-01-02T00:00:00.000Z')
  const app = await testApp({ clock, environment: { EXECUTIONS_KEEP_COUNT: String(kept) } })
  const calls = workflowCalls(app)
  const workflow_id = await calls.create({ start: { type: 'trigger' } }, [])
  const texts = { cause: '{"kind":"manual"}', input: '{"a":1}', options: '{}', output: '{}', error: null }
  const row = { workflow_id, version: 1, status: 'complete', attempt: 1, depth: 0, ...texts }
  const none = { waiting_until: null, idempotency_key: null, created_at: at, started_at: at }
  const result = {
    path: '',
    status: 'complete',
    attempts: 1,
    output: 'x'.repeat(200),
    started_at: at,
    duration_ms: 3,
  }
  await app.service.infrastructure.agentDatabases.use('default', async ({ db }) => {
    for (let first = 0; first < count; first += rowsAtOnce) {
      const numbers = Array.from({ length: Math.min(rowsAtOnce, count) }, (_, index) => first + index)
      const rows = numbers.map(number => {
        const completed_at = new Date(Date.parse(at) + number).toISOString()
        return { ...row, ...none, id: crypto.randomUUID(), completed_at }
      })
      await db.insertInto('executions').values(rows).execute()
      const results = rows.flatMap(({ id }) =>
        nodes.map(node_id => ({ ...result, execution_id: id, node_id })),
      )
      await db.insertInto('node_results').values(results).execute()
    }
  })
  await calls.run(workflow_id)
  await passTime(app, clock, 2 * 60_000)
  // The job lets others go first every now and then, until a time that only this clock tells of.
  for (let turns = 0; turns < stored / 100; turns += 1) await passTime(app, clock, 10)
  await passTime(app, clock, 2 * 60_000)
  const list = await app.call<{ meta: { total: number } }>(
    'GET',
    '/api/agents/default/workflows/executions?limit=1',
  )
  expect(list.body.meta.total).toBe(kept)
  return statSync(join(app.dataDirectory, 'agents/default/agent.db')).size
}

it(`a file of ${stored} executions that were pruned is hardly larger than one that only ever had so many as are left`, async () => {
  expect(await sizeAfter(stored)).toBeLessThanOrEqual(2 * (await sizeAfter(kept)))
})
