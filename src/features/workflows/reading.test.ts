import { expect, it } from 'vitest'
import { type TestApp, testApp } from '#test/support/build-app.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import type { Execution } from './workflows.schema.ts'

const results = 450
const output = JSON.stringify('x'.repeat(10_000))
const startedAt = (index: number) => new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString()

/** Results of an execution that has ended, as the service stores them, the last to begin first. */
async function addResults({ service }: TestApp, execution_id: string): Promise<void> {
  const row = {
    execution_id,
    status: 'complete',
    attempts: 1,
    handle: null,
    output,
    error: null,
    warnings: '["a \\"warning\\""]',
    due_at: null,
    duration_ms: 1,
  }
  await service.infrastructure.agentDatabases.use('default', async ({ db }) => {
    for (let index = results - 1; index >= 0; index -= 1) {
      const place = { node_id: `n${index % 7}`, path: String(index), started_at: startedAt(index) }
      await db
        .insertInto('node_results')
        .values({ ...row, ...place })
        .execute()
    }
  })
}

it('an execution with many long results is read in portions, in the order of their beginnings', async () => {
  const app = await testApp()
  const calls = workflowCalls(app)
  const { id } = await calls.run(await calls.create({ start: { type: 'trigger' } }, []), { a: 'ü"' })
  await addResults(app, id)
  const answer = await app.call<Execution>('GET', `/api/agents/default/workflows/executions/${id}`)
  expect(answer.headers).toMatchObject({ 'content-type': 'application/json; charset=utf-8' })
  expect(answer.headers).not.toHaveProperty('content-length')
  const { node_results, ...execution } = answer.body
  expect(Object.keys(execution).toSorted()).toEqual([
    ...['cause', 'completed_at', 'created_at', 'error', 'id', 'input', 'output', 'started_at', 'status'],
    ...['status_detail', 'version', 'waiting_until', 'workflow_id'],
  ])
  expect(execution).toMatchObject({ input: { a: 'ü"' }, output: { a: 'ü"' } })
  const added = node_results.slice(0, results)
  expect(added.map(({ path }) => path)).toEqual(Array.from({ length: results }, (_, index) => String(index)))
  expect(added[0]).toEqual({
    node_id: 'n0',
    path: '0',
    status: 'complete',
    started_at: startedAt(0),
    completed_at: null,
    duration_ms: 1,
    attempts: 1,
    input: null,
    output: JSON.parse(output),
    error: null,
    warnings: ['a "warning"'],
  })
  // Of 2 MiB, and none of the others.
  const shown = added.filter(one => one.output !== null)
  expect(shown).toEqual(added.slice(0, 209))
  expect(node_results[results]).toMatchObject({ node_id: 'start', output: null })
})

it('a node shows 50 warnings at most, and how many others there are', async () => {
  const calls = workflowCalls(await testApp())
  const left = Array.from({ length: 60 }, (_, index) => `{{gone.n${index}}}`).join(' ')
  const check = { type: 'if-else', conditions: [{ left, operator: 'exists' }] }
  const execution = await calls.run(
    await calls.create({ start: { type: 'trigger' }, check }, ['start > check']),
  )
  const { warnings = [] } = execution.node_results.find(({ node_id }) => node_id === 'check') ?? {}
  expect(warnings).toHaveLength(51)
  expect(warnings.slice(49)).toEqual(['{{gone.n49}} is empty', '10 more warnings are not shown'])
})
