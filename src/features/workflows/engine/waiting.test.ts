/** What executions that wait cost those that run. */
import { expect, it } from 'vitest'
import { type TestApp, testApp } from '#test/support/build-app.ts'
import { scaled } from '#test/support/endurance.ts'
import { threadTime } from '#test/support/processor-time.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import { jobOf } from '../executions/lifecycle.service.ts'

const waiting = scaled(10_000)
const executions = 20
const rounds = 4
const rowsAtOnce = 500
const at = '2026-01-01T00:00:00.000Z'
const later = '2100-01-01T00:00:00.000Z'

/** Executions of a workflow that wait, as the service stores them. */
async function addWaiting({ service }: TestApp, workflow_id: string): Promise<void> {
  const times = { created_at: at, started_at: at, completed_at: null, waiting_until: later }
  const texts = { cause: '{"kind":"manual"}', input: '{}', options: '{}', output: null, error: null }
  const state = { version: 1, status: 'running', attempt: 1, depth: 0, idempotency_key: null }
  const node = {
    node_id: 'pause',
    path: '',
    status: 'waiting',
    attempts: 1,
    due_at: later,
    started_at: at,
    duration_ms: 0,
  }
  const { name, payload } = jobOf('', 0)
  const entry = {
    name,
    payload: JSON.stringify(payload),
    lane: 'executions' as const,
    attempts: 0,
    failures: 0,
  }
  await service.infrastructure.agentDatabases.use('default', async ({ db }) => {
    for (let first = 0; first < waiting; first += rowsAtOnce) {
      const ids = Array.from({ length: rowsAtOnce }, (_, index) => `waiting ${first + index}`)
      await db
        .insertInto('executions')
        .values(ids.map(id => ({ ...state, ...texts, ...times, id, workflow_id })))
        .execute()
      await db
        .insertInto('node_results')
        .values(ids.map(execution_id => ({ ...node, execution_id })))
        .execute()
      const entries = ids.map(id => ({ ...entry, id, key: jobOf(id, 0).key, run_at: later, created_at: at }))
      await db.insertInto('outbox').values(entries).execute()
    }
  })
}

async function setApp() {
  const app = await testApp()
  const calls = workflowCalls(app)
  const nodes = { start: { type: 'trigger' }, pause: { type: 'wait', seconds: 0 } }
  const id = await calls.create(nodes, ['start > pause'], { concurrency: 10_000 })
  const run = async () => {
    for (let count = 0; count < executions; count += 1) {
      await calls.execute({ workflow_id: id })
      await app.service.infrastructure.runner.idle()
    }
  }
  await run()
  return { app, id, run }
}

it(`an execution takes hardly more processor time beside others of its workflow that wait (${waiting})`, async () => {
  const [alone, beside] = [await setApp(), await setApp()]
  await addWaiting(beside.app, beside.id)
  const times = { alone: Number.POSITIVE_INFINITY, beside: Number.POSITIVE_INFINITY }
  for (let round = 0; round < rounds; round += 1) {
    times.alone = Math.min(times.alone, await threadTime(alone.run))
    times.beside = Math.min(times.beside, await threadTime(beside.run))
  }
  expect(times.beside / times.alone).toBeLessThanOrEqual(1.5)
})
