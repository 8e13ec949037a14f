import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AgentEvent, anyEvent, eventJob, eventJobName } from '#platform/jobs/events.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import { executionJob } from './executions/lifecycle.service.ts'
import type { ExecutionSummary, Workflow } from './workflows.schema.ts'

const workflows = '/api/agents/default/workflows'
const start = { type: 'trigger' }
const ask = { type: 'wait', approval: 'Send to {{name}}?' }
const later = { type: 'wait', seconds: 86_400 }

let app: TestApp
let calls: ReturnType<typeof workflowCalls>
const events: AgentEvent[] = []

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'dev@example.com' } })
  calls = workflowCalls(app)
  const { agentDatabases, handlers } = app.service.infrastructure
  const handle = async (event: AgentEvent) => void events.push(event)
  handlers.set(eventJobName('test'), eventJob({ lane: 'deliveries', handle }))
  const subscription = { event: anyEvent, kind: 'test', ref: '1' }
  await agentDatabases.use('default', ({ db }) =>
    db.insertInto('event_subscriptions').values(subscription).execute(),
  )
})

afterAll(() => app.close())

async function begin(workflow_id: string, node: string, input = {}): Promise<string> {
  const { execution_id } = (await calls.execute({ workflow_id, input })).body
  await calls.waiting(execution_id, node)
  return execution_id
}

async function list(query: string): Promise<ExecutionSummary[]> {
  const path = `${workflows}/executions?${query}`
  return (await app.call<{ executions: ExecutionSummary[] }>('GET', path)).body.executions
}

/** The payloads of an execution, once all jobs have ended. */
async function payloadsOf(executionId: string, ...names: string[]) {
  await app.service.infrastructure.runner.idle()
  const own = events.filter(({ payload }) => Object(payload).execution_id === executionId)
  return own.filter(({ name }) => names.includes(name)).map(({ payload }) => payload)
}

it.each([
  ['approval', { ask }, 'waiting_for_approval'],
  ['time', { ask: later }, /^waiting_until 20\d\d-\d\d-\d\dT[\d:.]+Z$/],
  ['approval beside a time', { aside: { type: 'wait', seconds: 3600 }, ask }, 'waiting_for_approval'],
] as const)('that wait for %s are listed as waiting, with the reason', async (_name, nodes, detail) => {
  const edges = Object.keys(nodes).map(id => `start > ${id}`)
  const id = await calls.create({ start, ...nodes }, edges)
  const execution = await begin(id, 'ask')
  const status_detail = typeof detail === 'string' ? detail : expect.stringMatching(detail)
  const shown = { id: execution, status: 'running', status_detail }
  expect((await calls.get(execution)).body).toMatchObject(shown)
  for (const query of ['waiting', 'running', 'waiting&status=errored'])
    expect(await list(`workflow_id=${id}&status=${query}`)).toMatchObject([shown])
  expect(await list(`workflow_id=${id}&status=complete&status=queued`)).toEqual([])
  await app.call('POST', `${workflows}/executions/${execution}/terminate`)
  expect(await list(`workflow_id=${id}&status=waiting`)).toEqual([])
  expect((await calls.get(execution)).body).toMatchObject({ status: 'terminated', status_detail: null })
})

it('that wait take no place of a workflow whose concurrency does not count them', async () => {
  const id = await calls.create({ start, ask }, ['start > ask'], { concurrency_counts_waiting: false })
  const path = `${workflows}/${id}`
  const shown = async () => (await app.call<Workflow>('GET', path)).body.concurrency_counts_waiting
  expect(await shown()).toBe(false)
  await begin(id, 'ask')
  await begin(id, 'ask')
  expect(await list(`workflow_id=${id}&status=waiting`)).toHaveLength(2)
  await app.call('PUT', path, { body: { concurrency_counts_waiting: true } })
  expect(await shown()).toBe(true)
  expect(await calls.execute({ workflow_id: id })).toMatchObject({ status: 409 })
})

it('that begin to wait leave their place to one that is queued', async () => {
  const others = { concurrency_counts_waiting: false }
  const trigger = { type: 'trigger', event: 'contact.created' }
  const id = await calls.create({ start: trigger, later }, ['start > later'], others)
  for (const name of ['Ada', 'Bo', 'Cy'])
    await app.call('POST', '/api/agents/default/contacts', { body: { name } })
  await eventually(async () => expect(await list(`workflow_id=${id}&status=waiting`)).toHaveLength(3))
})

it('report that they wait, and what for, once, also if they begin the same wait again', async () => {
  const id = await calls.create({ start, ask: { ...ask, timeout_seconds: 3600 }, later }, [
    'start > ask',
    'ask/approved > later',
  ])
  const execution = await begin(id, 'ask', { name: 'Ada' })
  const { waiting_until } = (await calls.get(execution)).body
  const facts = {
    agent_id: 'default',
    workflow_id: id,
    execution_id: execution,
    depth: 0,
    cause: { kind: 'manual' },
  }
  const waiting = { ...facts, reason: 'approval', until: waiting_until }
  const asked = { ...facts, node_id: 'ask', path: '', approval: 'Send to Ada?', expires_at: waiting_until }
  // As after a crash between the end of a segment and that of its job.
  const { agentDatabases, transact } = app.service.infrastructure
  await agentDatabases.use('default', agent =>
    transact(agent, (_transaction, outbox) => outbox.runNow(executionJob)),
  )
  await app.service.infrastructure.runner.idle()
  await calls.waiting(execution, 'ask')
  expect(await payloadsOf(execution, 'workflow.waiting', 'approval.requested')).toEqual(
    expect.arrayContaining([waiting, asked]),
  )
  expect(await payloadsOf(execution, 'workflow.waiting', 'approval.requested')).toHaveLength(2)
  const resume = `${workflows}/executions/${execution}/nodes/ask/resume`
  expect((await app.call('POST', resume, { body: { approved: true } })).status).toBe(200)
  await calls.waiting(execution, 'later')
  expect(await payloadsOf(execution, 'workflow.waiting')).toMatchObject([waiting, { reason: 'time' }])
  await app.call('POST', `${workflows}/executions/${execution}/terminate`)
  expect(await payloadsOf(execution, 'workflow.terminated')).toEqual([{ ...facts, status: 'terminated' }])
})

it('report each decision that they need in a loop', async () => {
  const each = { type: 'loop', items: ['a', 'b'], concurrency: 2 }
  const inLoop = { type: 'wait', approval: '{{loop.item}}?' }
  const id = await calls.create({ start, each, ask: inLoop }, ['start > each', 'each/item > ask'])
  const execution = await begin(id, 'ask')
  const asked = await payloadsOf(execution, 'approval.requested')
  expect(asked).toHaveLength(2)
  expect(asked).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ path: '0', approval: 'a?' }),
      expect.objectContaining({ path: '1', approval: 'b?' }),
    ]),
  )
  expect(await payloadsOf(execution, 'workflow.waiting')).toHaveLength(1)
})
