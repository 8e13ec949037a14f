/**
 * Asks one agent for what belongs to another one of the same owner, by every call that takes an id. The routes are those
 * of the service: one with an id that is not known here fails.
 */
import { expect, it } from 'vitest'
import { makeAgent } from '../support/agents.ts'
import { type TestApp, testApp } from '../support/build-app.ts'
import { formOf, upload } from '../support/upload.ts'
import { workflowCalls } from '../support/workflows.ts'

async function make(app: TestApp, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await app.call<Record<string, unknown>>('POST', path, { body })
  expect([200, 201], JSON.stringify(answer.body)).toContain(answer.status)
  return answer.body
}

async function addWebhook(app: TestApp, path: string): Promise<Record<string, string>> {
  const { id } = await make(app, `${path}/webhooks`, { url: 'http://127.0.0.1:9/', events: ['*'] })
  const delivery = await make(app, `${path}/webhooks/${id}/test`, {})
  await app.service.infrastructure.runner.idle()
  return { webhookId: String(id), deliveryId: String(delivery.id) }
}

/** An execution that waits for a person, and the secret address of its workflow. */
async function addWorkflow(app: TestApp, path: string): Promise<Record<string, string>> {
  const { create, execute, waiting } = workflowCalls(app, path)
  const nodes = { start: { type: 'trigger' }, ask: { type: 'wait', approval: '?' } }
  const workflowId = await create(nodes, ['start > ask'])
  const { execution_id: executionId } = (await execute({ workflow_id: workflowId })).body
  await waiting(executionId, 'ask')
  const { url } = await make(app, `${path}/workflows/${workflowId}/hook`, {})
  return { workflowId, executionId, nodeId: 'ask', token: String(url).split('/').at(-1) ?? '' }
}

/** A profile is there once a session that has it has ended. */
async function addBrowser(app: TestApp, path: string): Promise<Record<string, string>> {
  const profileName = 'shop'
  const sessionId = String((await make(app, `${path}/browser`, { profile: profileName })).id)
  expect((await app.call('DELETE', `${path}/browser?id=${sessionId}`)).status).toBe(200)
  const open = String((await make(app, `${path}/browser`, {})).id)
  // Downloads are tried in the tests of actions.
  return { profileName, sessionId: open, downloadId: 'none' }
}

async function addPayments(app: TestApp, path: string): Promise<Record<string, string>> {
  const message = 'You received 500 EUR from Lena Berg. Ref: INV-9'
  const { id: recorded } = await make(app, `${path}/payment-notifications`, { gateway: 'sms', message })
  const { transaction_id } = await make(app, `${path}/payment-notifications/${recorded}/record`, {})
  const notified = await make(app, `${path}/payment-notifications`, { gateway: 'sms', message: 'Hello' })
  const method = { type: 'paypal', label: 'PayPal', details: { email: 'ada@example.com' } }
  const resource = { path: '/own', price: '1', currency: 'USDC', network: 'base', description: 'x' }
  return {
    transactionId: String(transaction_id),
    notificationId: String(notified.id),
    methodId: String((await make(app, `${path}/payment-methods`, method)).id),
    resourceId: String((await make(app, `${path}/x402-resources`, resource)).id),
  }
}

/** Gives an agent something of everything; the ids by the names that paths have for them. */
async function fill(app: TestApp, agentId: string): Promise<Record<string, string>> {
  const path = `/api/agents/${agentId}`
  const { userMessage, assistantMessage } = await make(app, `${path}/chat`, { content: 'Hello' })
  const message = userMessage as { id: string; conversationId: string }
  const { body: source } = await upload(app, { name: 'tides.txt', content: 'High tide', agentId })
  const tool = {
    name: 'now',
    type: 'http',
    cluster: 'clocks',
    configuration: { url: 'https://example.com', method: 'GET' },
  }
  const { data } = await make(app, `${path}/tools`, tool)
  const attached = await formOf([['file', new File(['Tides'], 'tides.txt')]])
  const { body: file } = await app.call<{ id: string }>('POST', `${path}/chat/files`, attached)
  await app.service.infrastructure.runner.idle()
  return {
    fileId: file.id,
    adminId: String((await make(app, `${path}/admins`, { email: 'a@example.com', role: 'owner' })).id),
    conversationId: message.conversationId,
    messageId: message.id,
    turnId: (assistantMessage as { id: string }).id,
    sourceId: source.id,
    toolId: (data as { id: string }).id,
    keyId: String((await make(app, `${path}/keys`, { name: 'CI', role: 'chat' })).id),
    contactId: String((await make(app, `${path}/contacts`, { name: 'Ada' })).id),
    clusterName: 'clocks',
    // Nobody listens there, which a registration bears.
    serverId: String((await make(app, `${path}/mcp`, { name: 'x', url: 'http://127.0.0.1:7777/' })).id),
    ...(await addWebhook(app, path)),
    ...(await addWorkflow(app, path)),
    scheduleId: String((await make(app, `${path}/schedules`, schedule)).id),
    taskId: String((await make(app, `${path}/calendar`, { title: 'Tide', start_time: '2100-01-01' })).id),
    ...(await addBrowser(app, path)),
    ...(await addPayments(app, path)),
    // Calls that wait for approval are tried in the tests of approvals.
    toolCallId: 'abcdefghi',
  }
}

const schedule = {
  name: 'Tides',
  type: 'delayed',
  delay_seconds: 3_600,
  callback_type: 'chat',
  callback_data: { content: 'High tide?' },
}

/** What is asked where nothing would be too little. */
const bodies: Record<string, object> = {
  'POST /browser/:sessionId/execute': { action: 'screenshot' },
  'POST /browser/:sessionId/takeover': { reason: 'Sign in' },
  'POST /transactions/:transactionId/resolve': { outcome: 'failed', note: 'x' },
  'POST /payment-notifications/:notificationId/match': { transaction_id: 'none' },
  'POST /chat/approvals/:toolCallId': { approved: false },
  'PUT /chat/conversations/:conversationId': { title: 'Eve' },
  'PUT /chat/messages/:messageId/feedback': { rating: 1 },
  'PUT /admins/:adminId': { monthly_tokens: 1 },
  'PUT /keys/:keyId': { name: 'Eve' },
  'PUT /calendar/:taskId': { title: 'Ebb' },
  'PUT /contacts/:contactId': { name: 'Eve' },
  'POST /contacts/:contactId/merge': { from: 'none' },
  'PUT /schedules/:scheduleId': { status: 'paused' },
  'PUT /tools/:toolId': { isEnabled: false },
  'PUT /webhooks/:webhookId': { enabled: false },
  'PUT /workflows/:workflowId': { name: 'Eve' },
  'POST /workflows/executions/:executionId/retry': {},
  'POST /workflows/executions/:executionId/nodes/:nodeId/resume': { approved: true },
  'PUT /tools/cluster/:clusterName/credentials': { key: null },
}

it('no id of another agent leads to anything, and what it names stays as it is', async () => {
  const app = await testApp({
    environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' },
  })
  const theirs = await makeAgent(app)
  const mine = await makeAgent(app)
  const ids = await fill(app, theirs)
  const calls = app.routes
    .filter(({ method, url }) => url.startsWith('/api/agents/:id/') && method !== 'HEAD')
    .map(({ method, url }) => ({ method, rest: url.replace('/api/agents/:id', '') }))
  const asked = calls
    // A channel is named by its kind, and is every agent's own.
    .filter(({ rest }) => /:(?!channel\b)/.test(rest))
    .map(({ method, rest }) => ({
      method,
      rest: rest.replaceAll(/:(\w+)/g, (_colon, name: string) => {
        expect(ids).toHaveProperty(name)
        return String(ids[name])
      }),
      body: bodies[`${method} ${rest}`],
    }))
  expect(asked.length).toBeGreaterThan(15)
  const { conversationId, messageId, toolId, serverId, sessionId, workflowId } = ids
  const asksElsewhere = [
    { method: 'GET', rest: `/chat?conversationId=${conversationId}` },
    { method: 'DELETE', rest: `/chat?conversationId=${conversationId}` },
    { method: 'GET', rest: `/chat?before=${messageId}` },
    { method: 'GET', rest: `/chat?after=${messageId}` },
    { method: 'DELETE', rest: `/tools?id=${toolId}` },
    { method: 'DELETE', rest: `/mcp?id=${serverId}` },
    { method: 'DELETE', rest: `/browser?id=${sessionId}` },
    { method: 'GET', rest: '/x402/own' },
    { method: 'POST', rest: '/chat', body: { content: 'Hello', attachments: [{ id: ids.fileId }] } },
    { method: 'POST', rest: '/chat', body: { content: 'Hello', conversationId } },
    { method: 'POST', rest: '/workflows/execute', body: { workflow_id: workflowId } },
  ]
  const before = await allOf(app, theirs)
  const found: string[] = []
  for (const { method, rest, body } of [...asked, ...asksElsewhere]) {
    const given = rest.endsWith('/file') ? await formOf([['file', new File(['Ebb'], 'tides.txt')]]) : { body }
    const answer = await app.call(method, `/api/agents/${mine}${rest}`, given)
    if (answer.status !== 404) found.push(`${method} ${rest} ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  expect(found).toEqual([])
  expect(await allOf(app, theirs)).toEqual(before)
})

async function allOf(app: TestApp, agentId: string): Promise<unknown[]> {
  const lists = ['/chat', '/chat/conversations', '/sources', '/tools', '/mcp', '/webhooks', '/admins']
  lists.push('/workflows', '/workflows/executions')
  lists.push('/schedules', '/calendar')
  lists.push('/browser', '/browser/profiles')
  lists.push('/transactions', '/payment-methods', '/payment-notifications', '/x402-resources')
  return Promise.all(lists.map(async list => (await app.call('GET', `/api/agents/${agentId}${list}`)).body))
}
