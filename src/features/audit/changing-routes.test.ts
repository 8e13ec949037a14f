import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { type Answer, buildApp, type CallOptions, type TestApp } from '#test/support/build-app.ts'
import { type ChatModel, startChatModel } from '#test/support/chat-model.ts'
import { fakeMcpServer, toolNamed } from '#test/support/fake-mcp-server.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { type ModelServer, openaiText, openaiToolCall, startModelServer } from '#test/support/model-server.ts'
import { type PaymentProvider, startPaymentProvider } from '#test/support/payment-provider.ts'
import { startTelegramServer, type TelegramServer } from '#test/support/telegram-server.ts'
import { formOf, upload } from '#test/support/upload.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import type { AuditEntry } from './audit.schema.ts'

/** Called by tests of their own features, since they need a browser, or people who sign in and out. */
const calledElsewhere = new Set(
  `createBrowserSession endBrowserSession deleteBrowserProfile requestBrowserTakeover endBrowserTakeover executeBrowserActions
  redeemLink signOut endSessions endSession`.split(/\s+/),
)

const trigger = { nodes: [{ id: 'start', type: 'trigger', data: {} }], edges: [] }
const tool = { type: 'javascript', configuration: { code: 'return 1' } }
const inTime = '2030-01-31T09:00:00Z'
const webhook = { url: '{site}/events', events: ['*'] }
const order = { amount: 1999, currency: 'usd', description: 'Advice' }
const pages = { success_url: 'https://shop.example/paid', cancel_url: 'https://shop.example/left' }
const shop = {
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://shop.example/v1' }],
  security: [{ key: [] }],
  paths: { '/items': { get: { operationId: 'getItems' } } },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Shop-Key' } } },
}
const forSale = { price: '0.10', currency: 'USDC', network: 'base-sepolia', description: 'A report' }

/**
 * Each with what it takes to succeed, in an order in which all do, below the path of the agent or of the API. `{name}` is the id
 * that an operation has answered with, or of what was there before.
 */
const calls: Record<string, [path: string, body?: object]> = {
  createContact: ['/contacts', { name: 'Bo', email: 'bo@example.com' }],
  updateContact: ['/contacts/{createContact}', { name: 'Boo' }],
  mergeContacts: ['/contacts/{createContact}/merge', { from: '{contact}' }],
  createAgentKey: ['/keys', { name: 'K', role: 'chat' }],
  updateAgentKey: ['/keys/{createAgentKey}', { name: 'L' }],
  rotateAgentKey: ['/keys/{createAgentKey}/rotate'],
  revokeAgentKey: ['/keys/{createAgentKey}'],
  createMyKey: ['/api/auth/keys', { name: 'K' }],
  updateMyKey: ['/api/auth/keys/{createMyKey}', { name: 'L' }],
  rotateMyKey: ['/api/auth/keys/{createMyKey}/rotate'],
  revokeMyKey: ['/api/auth/keys/{createMyKey}'],
  createInvitation: [
    '/api/invitations',
    { email: 'cy@example.com', agents: [{ id: '{agent}', role: 'chat' }] },
  ],
  withdrawInvitation: ['/api/invitations/{createInvitation}'],
  updateAgent: ['', { description: 'Theirs' }],
  updateSettings: ['/settings', { openai_api_key: 'sk-planted', telegram_bot_token: '1:AAE-planted' }],
  connectTelegram: ['/channels/telegram/connect'],
  testChannel: ['/channels/telegram/test', { to: '77' }],
  addAdmin: ['/admins', { email: 'bo@example.com', role: 'admin' }],
  updateAdmin: ['/admins/{addAdmin}', { monthly_tokens: 1000 }],
  signOutAdmin: ['/admins/{addAdmin}/sign-out'],
  removeAdmin: ['/admins/{addAdmin}'],
  executeSql: ['/sql/execute', { query: "update contacts set notes = 'x'" }],
  createWorkflow: ['/workflows', { name: 'W', status: 'active', ...trigger }],
  updateWorkflow: ['/workflows/{createWorkflow}', { name: 'V' }],
  createWorkflowHook: ['/workflows/{createWorkflow}/hook'],
  deleteWorkflowHook: ['/workflows/{createWorkflow}/hook'],
  executeWorkflow: ['/workflows/execute', { workflow_id: '{createWorkflow}' }],
  retryExecution: ['/workflows/executions/{executeWorkflow}/retry', { from_node: 'start' }],
  resumeNode: ['/workflows/executions/{waiting}/nodes/ask/resume', { approved: true }],
  terminateExecution: ['/workflows/executions/{running}/terminate'],
  createSchedule: [
    '/schedules',
    {
      name: 'S',
      type: 'once',
      next_run: inTime,
      callback_type: 'workflow',
      callback_id: '{createWorkflow}',
    },
  ],
  updateSchedule: ['/schedules/{createSchedule}', { next_run: '2031-01-31T09:00:00Z' }],
  runSchedule: ['/schedules/{createSchedule}/run'],
  deleteSchedule: ['/schedules/{createSchedule}'],
  createTask: ['/calendar', { title: 'Stand-up', start_time: inTime }],
  updateTask: ['/calendar/{createTask}', { title: 'Sit-down' }],
  deleteTask: ['/calendar/{createTask}'],
  createCalendarFeed: ['/calendar/feed'],
  deleteCalendarFeed: ['/calendar/feed'],
  createTool: ['/tools', { name: 'one', cluster: 'numbers', ...tool }],
  updateTool: ['/tools/{createTool}', { description: 'One' }],
  testTool: ['/tools/{createTool}/test', { arguments: {} }],
  deleteTool: ['/tools?id={createTool}'],
  importOpenApiTools: ['/tools/import-openapi', { spec: shop }],
  setClusterCredentials: ['/tools/cluster/Shop/credentials', { key: 'sk-planted' }],
  deleteToolCluster: ['/tools/cluster/Shop'],
  registerMcpServer: ['/mcp', { name: 'files', url: '{mcp}' }],
  approveMcpServerTools: ['/mcp/{server}/approve'],
  removeMcpServer: ['/mcp?id={registerMcpServer}'],
  crawlWebsite: ['/sources/crawl', { name: 'Site', url: '{site}', maxPages: 1 }],
  createWebhook: ['/webhooks', webhook],
  updateWebhook: ['/webhooks/{createWebhook}', { events: ['contact.created'] }],
  rotateWebhookSecret: ['/webhooks/{createWebhook}/secret'],
  testWebhook: ['/webhooks/{createWebhook}/test'],
  retryWebhookDelivery: ['/webhooks/{createWebhook}/deliveries/{testWebhook}/retry'],
  deleteWebhook: ['/webhooks/{createWebhook}'],
  addPaymentMethod: [
    '/payment-methods',
    { type: 'paypal', label: 'P', details: { email: 'bo@example.com' } },
  ],
  deletePaymentMethod: ['/payment-methods/{addPaymentMethod}'],
  addPaymentNotification: [
    '/payment-notifications',
    { gateway: 'sms', message: 'You received 500.00 EUR from Lena Berg. Ref: INV-9' },
  ],
  recordPaymentNotification: ['/payment-notifications/{addPaymentNotification}/record'],
  unmatchPaymentNotification: ['/payment-notifications/{addPaymentNotification}/unmatch'],
  matchPaymentNotification: [
    '/payment-notifications/{addPaymentNotification}/match',
    { transaction_id: '{transaction}' },
  ],
  createCheckout: ['/provider/checkout', { ...order, ...pages }],
  createCharge: ['/provider/charge', { ...order, card_id: 'card_1' }],
  refundCharge: ['/provider/refund', { charge_id: '{createCharge}' }],
  resolveTransaction: ['/transactions/{pending}/resolve', { outcome: 'failed', note: 'Never arrived' }],
  sellPaidResource: ['/x402-resources', { ...forSale, path: '/reports/daily' }],
  deletePaidResource: ['/x402-resources/{sellPaidResource}'],
  deleteWorkflow: ['/workflows/{createWorkflow}'],
  deleteContact: ['/contacts/{createContact}'],
  decideApproval: ['/chat/approvals/{call}', { approved: true }],
  deleteMessage: ['/chat/messages/{question}'],
  updateConversation: ['/chat/conversations/{conversation}', { title: 'Talks' }],
  deleteConversation: ['/chat/conversations/{conversation}'],
  deleteMessages: ['/chat'],
  importConversation: ['/chat/conversations/import', { version: 1, id: 'x', title: 'T', messages: [] }],
}

let app: TestApp
let model: ChatModel
let telegram: TelegramServer
let provider: PaymentProvider
/** What is crawled, and takes webhooks. */
let site: ModelServer

beforeAll(async () => {
  model = await startChatModel()
  telegram = await startTelegramServer()
  provider = await startPaymentProvider()
  site = await startModelServer(() => ({ text: 'Harbour', headers: { 'content-type': 'text/plain' } }))
  app = await buildApp({
    clock: manualClock(),
    environment: {
      ...model.environment,
      ...telegram.environment,
      BASE_URL: 'https://agents.example',
      PROVIDER_API_KEY: 'sk_test_1',
      PROVIDER_API_BASE: provider.url,
      OUTBOUND_ALLOW: '127.0.0.1',
      DEV_USER: 'ada@example.com',
    },
  })
})

afterAll(async () => {
  await app.close()
  for (const server of [model, telegram, provider, site]) await server[Symbol.asyncDispose]()
})

it('every route that changes something is called here, elsewhere, or exempt', () => {
  const reading = ['GET', 'HEAD']
  const changing = app.routes.filter(
    ({ method, config }) => !reading.includes(method) && config.audit !== 'exempt',
  )
  const known = new Set([...Object.keys(calls), ...calledElsewhere, ...others])
  const names = changing.map(({ config }) => config.operationId ?? '')
  expect(names.filter(name => !known.has(name))).toEqual([])
  expect([...known].filter(name => !names.includes(name))).toEqual([])
})

/** Committed with its change in the platform's database. */
const ofPlatform = /(Agent|My)Key$|Invitation$|^updateAgent$|^updateSettings$|Admin$/
/** They change nothing of the agent, or not in transactions of the service. */
const notInTransactions = ['connectTelegram', 'testChannel', 'executeSql', 'testTool']

/** Called by steps of their own below, or by the tests of keys. */
const others = [
  'createAgent',
  'deleteAgent',
  'createSource',
  'deleteSource',
  'reindexSource',
  'refreshSource',
  'replaceSourceFile',
  'importContacts',
  'deleteChatFile',
]

it('each leaves one entry with an actor, in the transaction of the agent where it has one', async () => {
  const agentId = await makeAgent(app)
  const made = await makeBefore(agentId)
  const seen = new Set<string>()
  const wrong: unknown[] = []
  const notJoined: string[] = []
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name) => made[name] ?? name)
  async function step(operation: string, work: () => Promise<Answer>) {
    const { status, body } = await work()
    const answer = body as { transaction_id?: string | null } | null
    made.transaction = answer?.transaction_id ?? made.transaction ?? ''
    made[operation] = idIn(answer)
    if (!(await isUnderWay(app, agentId))) notJoined.push(operation)
    await app.service.infrastructure.runner.idle()
    const entries = await newEntries(app, agentId, seen)
    const fits =
      entries.length === 1 && entries[0]?.operation === operation && entries[0].actor_id === 'ada@example.com'
    const isNamed = status !== 201 || entries[0]?.object === made[operation]
    if (status >= 300 || !fits || !isNamed) wrong.push({ operation, status, body, entries })
  }
  await app.service.infrastructure.runner.idle()
  await newEntries(app, agentId, seen)
  for (const [operation, [path, body]] of Object.entries(calls)) {
    const route = app.routes.find(({ config }) => config.operationId === operation)
    const options: CallOptions = body === undefined ? {} : { body: JSON.parse(filled(JSON.stringify(body))) }
    const url = filled(path.startsWith('/api/') ? path : `/api/agents/${agentId}${path}`)
    await step(operation, () => app.call(route?.method ?? '', url, options))
  }
  await step('createSource', () => upload(app, { name: 'a.txt', content: 'Tea is hot.', agentId }))
  const source = `/api/agents/${agentId}/sources/${made.createSource}`
  const newer = await formOf([['file', new File(['Tea is cold.'], 'a.txt')]])
  await step('replaceSourceFile', () => app.call('PUT', `${source}/file`, newer))
  await step('reindexSource', () => app.call('POST', `${source}/reindex`))
  await step('refreshSource', () => app.call('POST', `${source}/refresh`))
  await step('deleteSource', () => app.call('DELETE', source))
  const chat = `/api/agents/${agentId}/chat/files`
  const sent = await app.call<{ id: string }>(
    'POST',
    chat,
    await formOf([['file', new File(['x'], 'x.txt')]]),
  )
  await step('deleteChatFile', () => app.call('DELETE', `${chat}/${sent.body.id}`))
  const form = await formOf([['file', new File(['name,email\nA,a@x.org\nB,b@x.org\n'], 'c.csv')]])
  await step('importContacts', () => app.call('POST', `/api/agents/${agentId}/contacts/import`, form))
  expect(wrong).toEqual([])
  expect(notJoined.filter(operation => !ofPlatform.test(operation))).toEqual(notInTransactions)
  const { body: log } = await app.call<string>('GET', `/api/agents/${agentId}/audit?format=ndjson`)
  expect(log).not.toContain('planted')
})

/** What calls need that the calls before them do not make. */
async function makeBefore(agentId: string): Promise<Record<string, string>> {
  const agent = `/api/agents/${agentId}`
  const post = async (path: string, body: object) => {
    const answer = await app.call('POST', agent + path, { body })
    expect(answer.status).toBeLessThan(300)
    return answer.body
  }
  const workflows = workflowCalls(app, agent)
  const ask = { start: { type: 'trigger' }, ask: { type: 'wait', approval: 'Go on?' } }
  const [waiting = '', running = ''] = await Promise.all(
    ['One', 'Two'].map(async name => {
      const workflow_id = await workflows.create(ask, ['start > ask'], { name })
      const { execution_id } = (await workflows.execute({ workflow_id })).body
      await workflows.waiting(execution_id, 'ask')
      return execution_id
    }),
  )
  await post('/tools', { name: 'transfer', requiresApproval: 'always', ...tool })
  model.next({ stream: openaiToolCall('transfer', {}) }, { stream: openaiText('It waits for you.') })
  const turn = (await post('/chat', { content: 'Do it.' })) as {
    userMessage: { id: string }
    assistantMessage: { toolResults: { toolCallId: string }[] }
  }
  const mcp = await fakeMcpServer()
  const server = idIn(await post('/mcp', { name: 'notes', url: mcp.url }))
  mcp.tools.push(toolNamed('write'))
  await app.call('GET', `${agent}/mcp/${server}/tools`)
  await post('/provider/checkout', { ...order, ...pages })
  const { body: ledger } = await app.call<{ transactions: { id: string }[] }>(
    'GET',
    `${agent}/transactions?state=pending`,
  )
  return {
    agent: agentId,
    site: site.url,
    mcp: mcp.url,
    server,
    waiting,
    running,
    question: turn.userMessage.id,
    call: turn.assistantMessage.toolResults[0]?.toolCallId ?? '',
    pending: ledger.transactions[0]?.id ?? '',
    contact: idIn(await post('/contacts', { name: 'Cy', email: 'cy@example.com' })),
    conversation: idIn(await post('/chat/conversations', { title: 'Talk' })),
  }
}

/** The id of what an answer shows, or of the first. */
function idIn(answer: unknown): string {
  type Made = Partial<Record<'id' | 'execution_id' | 'charge_id', string>>
  type Shown = Made & { data?: { id: string } | { id: string }[] }
  const { id, data, execution_id, charge_id } = Object(answer) as Shown
  return id ?? execution_id ?? charge_id ?? [data].flat()[0]?.id ?? ''
}

/** Those of the agent, and those of the caller that belong to none. */
async function newEntries(app: TestApp, agentId: string, seen: Set<string>): Promise<AuditEntry[]> {
  // Moves those that are under way.
  await app.call('GET', `/api/agents/${agentId}/audit?limit=1`)
  const { body } = await app.call<{ entries: AuditEntry[] }>('GET', '/api/audit?limit=1000')
  const fresh = body.entries.filter(({ id }) => !seen.has(id))
  for (const { id } of fresh) seen.add(id)
  return fresh
}

/** Whether an entry waits in the agent's database, where it was committed with its change. */
function isUnderWay(app: TestApp, agentId: string): Promise<boolean> {
  return app.service.infrastructure.agentDatabases.use(agentId, async ({ db }) => {
    const waiting = await db.selectFrom('audit_rows').select('number').execute()
    return waiting.length > 0
  })
}
