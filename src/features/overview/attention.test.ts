import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import { workflowCalls } from '#test/support/workflows.ts'

interface Attention {
  items: { kind: string; id: string; title: string; detail: string; at: string; [link: string]: string }[]
  counts: Record<string, number>
}

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'ada@example.com' } })
})

afterAll(() => app.close())

const read = async (agentId: string) =>
  (await app.call<Attention>('GET', `/api/agents/${agentId}/attention`)).body

const nothing = {
  tool_approval: 0,
  workflow_approval: 0,
  takeover: 0,
  mcp_definition: 0,
  payment_notification: 0,
  waiting_execution: 0,
  failed_execution: 0,
  failed_source: 0,
  failed_notice: 0,
}

it('what waits for a person is listed with what it belongs to, and of this agent alone', async () => {
  const [agentId, other] = [await makeAgent(app), await makeAgent(app)]
  const path = `/api/agents/${agentId}`
  const source = await uploadAndProcess(app, { name: 'broken.pdf', content: 'no PDF', agentId })
  await uploadAndProcess(app, { name: 'good.txt', content: 'Herring', agentId })
  const workflows = workflowCalls(app, path)
  const start = { type: 'trigger' }
  const started = async (name: string, step: { type: string; [field: string]: unknown }, status: string) => {
    const workflow_id = await workflows.create({ start, step }, ['start > step'], { name })
    const { execution_id } = (await workflows.execute({ workflow_id })).body
    await workflows.reached(execution_id, status)
    await app.service.infrastructure.runner.idle()
    return { execution_id, workflow_id }
  }
  const asking = await started('Asks', { type: 'wait', approval: 'Send it?' }, 'running')
  const waiting = await started('Waits', { type: 'wait', seconds: 3600 }, 'running')
  const failed = await started('Fails', { type: 'code', code: 'throw new Error("no tea")' }, 'errored')
  await started('Ends', { type: 'wait', seconds: 0 }, 'complete')
  const notification = await app.call<{ id: string }>('POST', `${path}/payment-notifications`, {
    body: { gateway: 'sms', message: 'You received 12.50 EUR from Ada' },
  })
  const time = '2026-11-26T10:00:00.000Z'
  await app.service.infrastructure.agentDatabases.use(agentId, async ({ db }) => {
    const conversation = {
      title: 'T',
      channel: null,
      message_count: 1,
      last_message_at: time,
      created_at: time,
    }
    await db
      .insertInto('conversations')
      .values({
        id: 'c',
        ...conversation,
        lock_token: 0,
        lock_holder: null,
        lock_expires_at: null,
        created_by: null,
      })
      .execute()
    const message = { tool_calls: null, tool_results: null, metadata: null, created_at: time }
    await db
      .insertInto('messages')
      .values({ id: 'm', conversation_id: 'c', role: 'assistant', content: '', ...message })
      .execute()
    const approval = { message_id: 'm', conversation_id: 'c', name: 'send_mail', tool_version: '1' }
    const decided = { arguments: '{"to":"ada"}', created_at: time, decided_at: null }
    for (const status of ['pending', 'done'])
      await db
        .insertInto('tool_approvals')
        .values({ tool_call_id: `call-${status}`, status, ...approval, ...decided })
        .execute()
    const server = {
      url: 'http://a.b/',
      auth_type: 'none',
      secret_set: null,
      status: 'connected',
      error: null,
    }
    await db
      .insertInto('mcp_servers')
      .values({ id: 's', name: 'Server', ...server, created_at: time, updated_at: time })
      .execute()
    const tool = { server_id: 's', description: '', parameters: '{}', definition_hash: 'new' }
    await db
      .insertInto('mcp_tools')
      .values([
        { ...tool, name: 'changed', position: 0, approved_hash: 'old' },
        { ...tool, name: 'unseen', position: 1, approved_hash: null },
        { ...tool, name: 'fine', position: 2, approved_hash: 'new' },
        { ...tool, name: 'gone', position: null, approved_hash: 'old' },
      ])
      .execute()
    const session = { headless: 1, viewport_width: 1, viewport_height: 1, user_agent: '', profile: null }
    const held = { instance_id: 'i', created_at: time, last_activity: time, replica_url: null }
    for (const [id, status, lease_until] of [
      ['taken', 'takeover', '2999-01-01T00:00:00.000Z'],
      ['dead', 'takeover', time],
      ['open', 'active', '2999-01-01T00:00:00.000Z'],
    ] as const)
      await db
        .insertInto('browser_sessions')
        .values({ id, status, lease_until, ...session, ...held })
        .execute()
    const notice = { channel: 'email', contact_id: 'ann', subject: null, text: '', created_at: time }
    for (const [id, expires_at, error] of [
      ['unsent', '2999-01-01T00:00:00.000Z', 'no address'],
      ['sent', '2999-01-01T00:00:00.000Z', null],
      ['over', time, 'no address'],
    ] as const)
      await db
        .insertInto('notices')
        .values({ id, ...notice, expires_at, error, sent_at: null, outcome: null })
        .execute()
  })

  const { items, counts } = await read(agentId)
  const ofKind = (kind: string) => items.filter(item => item.kind === kind)
  expect(ofKind('failed_source')).toMatchObject([
    { id: source, title: 'broken.pdf', detail: expect.any(String) },
  ])
  expect(ofKind('workflow_approval')).toMatchObject([
    { title: 'Asks', node_id: 'step', detail: expect.stringContaining('Send it?'), ...asking },
  ])
  expect(ofKind('waiting_execution')).toMatchObject([{ title: 'Waits', node_id: 'step', ...waiting }])
  expect(ofKind('failed_execution')).toMatchObject([
    { id: failed.execution_id, title: 'Fails', detail: expect.stringContaining('no tea'), ...failed },
  ])
  expect(ofKind('payment_notification')).toMatchObject([{ id: notification.body.id, title: 'sms' }])
  expect(ofKind('tool_approval')).toMatchObject([
    { id: 'call-pending', title: 'send_mail', detail: '{"to":"ada"}', conversation_id: 'c', message_id: 'm' },
  ])
  expect(ofKind('mcp_definition').map(item => [item.id, item.server_id])).toEqual(
    expect.arrayContaining([
      ['s/changed', 's'],
      ['s/unseen', 's'],
    ]),
  )
  expect(ofKind('takeover')).toMatchObject([{ id: 'taken', session_id: 'taken' }])
  expect(ofKind('failed_notice')).toMatchObject([{ id: 'unsent', title: 'email', detail: 'no address' }])
  const each = Object.fromEntries(Object.keys(nothing).map(kind => [kind, kind === 'mcp_definition' ? 2 : 1]))
  expect(counts).toEqual(each)
  expect(items).toHaveLength(10)
  expect(items.map(({ at }) => at)).toEqual(
    items
      .map(({ at }) => at)
      .toSorted()
      .toReversed(),
  )
  expect(await read(other)).toEqual({ items: [], counts: nothing })
})
