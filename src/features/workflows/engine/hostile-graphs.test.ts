/** No graph may keep others waiting: each runs at a part of its size beside a count of what every turn takes. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TestApp } from '#test/support/build-app.ts'
import { buildApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { hostileGraphs } from '#test/support/hostile/graphs.ts'
import { longestSlice } from '#test/support/longest-slice.ts'
import type { Execution } from '../workflows.schema.ts'

const maxSliceMs = 250
const base = '/api/agents/default/workflows'

let app: TestApp
beforeAll(async () => {
  app = await buildApp()
})
afterAll(() => app.close())

async function run(workflow: object, input: object): Promise<string> {
  const created = await app.call<{ id: string }>('POST', base, { body: workflow })
  expect(created).toMatchObject({ status: 201 })
  const workflow_id = created.body.id
  const started = await app.call<{ execution_id: string }>('POST', `${base}/execute`, {
    body: { workflow_id, input },
  })
  expect(started).toMatchObject({ status: 200 })
  await eventually(async () => {
    const open = `${base}/executions?workflow_id=${workflow_id}&status=running`
    expect(await app.call('GET', open)).toMatchObject({ body: { executions: [] } })
  })
  return started.body.execution_id
}

it.each(hostileGraphs(0.1).map(graph => [graph.name, graph] as const))(
  '%s: blocks no turn of the event loop for long',
  async (_name, { workflow, input, ends }) => {
    let id = ''
    const begin = async () => {
      id = await run(workflow, input)
    }
    const slice = await longestSlice(begin())
    const read = app.call<Execution>('GET', `${base}/executions/${id}`)
    const { body } = await read
    expect(body).toMatchObject({
      status: ends.status,
      error: ends.error === null ? null : expect.stringMatching(ends.error),
    })
    expect(slice).toBeLessThan(maxSliceMs)
    for (const { warnings } of body.node_results) expect(warnings.length).toBeLessThanOrEqual(51)
  },
)
