import { expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import type { Answer, CallOptions, TestApp } from '#test/support/build-app.ts'
import { testApp } from '#test/support/build-app.ts'
import { manualClock } from '#test/support/manual-clock.ts'
import { formOf, upload } from '#test/support/upload.ts'
import type { AuditEntry } from './audit.schema.ts'

/** Called by tests of their own features, since they need a browser, a provider, a messenger, or work under way. */
const calledElsewhere = new Set(
  `createBrowserSession endBrowserSession deleteBrowserProfile requestBrowserTakeover endBrowserTakeover executeBrowserActions
  createCheckout createCharge refundCharge resolveTransaction decideApproval testChannel connectTelegram registerMcpServer
  approveMcpServerTools removeMcpServer retryWebhookDelivery retryExecution terminateExecution resumeNode crawlWebsite
  refreshSource importOpenApiTools deleteMessage mergeContacts setClusterCredentials deleteTool sellPaidResource
  deletePaidResource createMyKey updateMyKey rotateMyKey revokeMyKey
  redeemLink signOut endSessions endSession createInvitation withdrawInvitation`.split(/\s+/),
)

const trigger = { nodes: [{ id: 'start', type: 'trigger', data: {} }], edges: [] }
const tool = { type: 'javascript', configuration: { code: 'return 1' } }
const inTime = '2030-01-31T09:00:00Z'
const webhook = { url: 'https://example.com/events', events: ['*'] }

/** Each with what it takes to succeed, in an order in which all do. `{name}` is the id that an operation has answered with. */
const calls: Record<string, [path: string, body?: object]> = {
  createContact: ['/contacts', { name: 'Bo', email: 'bo@example.com' }],
  updateContact: ['/contacts/{createContact}', { name: 'Boo' }],
  createAgentKey: ['/keys', { name: 'K', role: 'chat' }],
  updateAgentKey: ['/keys/{createAgentKey}', { name: 'L' }],
  rotateAgentKey: ['/keys/{createAgentKey}/rotate'],
  revokeAgentKey: ['/keys/{createAgentKey}'],
  updateAgent: ['', { description: 'Theirs' }],
  updateSettings: ['/settings', { openai_api_key: 'sk-planted' }],
  addAdmin: ['/admins', { email: 'bo@example.com', role: 'admin' }],
  updateAdmin: ['/admins/{addAdmin}', { monthly_tokens: 1000 }],
  removeAdmin: ['/admins/{addAdmin}'],
  executeSql: ['/sql/execute', { query: "update contacts set notes = 'x'" }],
  createWorkflow: ['/workflows', { name: 'W', status: 'active', ...trigger }],
  updateWorkflow: ['/workflows/{createWorkflow}', { name: 'V' }],
  createWorkflowHook: ['/workflows/{createWorkflow}/hook'],
  deleteWorkflowHook: ['/workflows/{createWorkflow}/hook'],
  executeWorkflow: ['/workflows/execute', { workflow_id: '{createWorkflow}' }],
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
  deleteToolCluster: ['/tools/cluster/numbers'],
  createWebhook: ['/webhooks', webhook],
  updateWebhook: ['/webhooks/{createWebhook}', { events: ['contact.created'] }],
  rotateWebhookSecret: ['/webhooks/{createWebhook}/secret'],
  testWebhook: ['/webhooks/{createWebhook}/test'],
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
  deleteWorkflow: ['/workflows/{createWorkflow}'],
  deleteContact: ['/contacts/{createContact}'],
  updateConversation: ['/chat/conversations/{conversation}', { title: 'Talks' }],
  deleteConversation: ['/chat/conversations/{conversation}'],
  deleteMessages: ['/chat'],
  importConversation: ['/chat/conversations/import', { version: 1, id: 'x', title: 'T', messages: [] }],
}

it('every route that changes something is called here, elsewhere, or exempt', async () => {
  const app = await testApp()
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
const ofPlatform = /AgentKey$|^updateAgent$|^updateSettings$|Admin$/
/** The last one finds nothing to delete. */
const notInTransactions = ['executeSql', 'testTool', 'deleteMessages']

/** Called by steps of their own below, or by the tests of keys. */
const others = [
  'createAgent',
  'deleteAgent',
  'createSource',
  'deleteSource',
  'reindexSource',
  'replaceSourceFile',
  'importContacts',
  'deleteChatFile',
]

it('each leaves one entry with an actor, in the transaction of the agent where it has one', async () => {
  const app = await testApp({ clock: manualClock(), environment: { DEV_USER: 'ada@example.com' } })
  const agentId = await makeAgent(app)
  const made: Record<string, string> = {}
  const seen = new Set<string>()
  const wrong: unknown[] = []
  const notJoined: string[] = []
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name) => made[name] ?? name)
  async function step(operation: string, work: () => Promise<Answer>) {
    const { status, body } = await work()
    const answer = body as { id?: string; data?: { id: string }; transaction_id?: string | null } | null
    made.transaction = answer?.transaction_id ?? made.transaction ?? ''
    made[operation] = answer?.id ?? answer?.data?.id ?? ''
    if (!(await isUnderWay(app, agentId))) notJoined.push(operation)
    await app.service.infrastructure.runner.idle()
    const entries = await newEntries(app, agentId, seen)
    const fits =
      entries.length === 1 && entries[0]?.operation === operation && entries[0].actor_id === 'ada@example.com'
    const isNamed = status !== 201 || entries[0]?.object === made[operation]
    if (status >= 300 || !fits || !isNamed) wrong.push({ operation, status, body, entries })
  }
  const conversation = await app.call<{ id: string }>('POST', `/api/agents/${agentId}/chat/conversations`, {
    body: { title: 'Talk' },
  })
  made.conversation = conversation.body.id
  await newEntries(app, agentId, seen)
  for (const [operation, [path, body]] of Object.entries(calls)) {
    const route = app.routes.find(({ config }) => config.operationId === operation)
    const options: CallOptions = body === undefined ? {} : { body: JSON.parse(filled(JSON.stringify(body))) }
    await step(operation, () =>
      app.call(route?.method ?? '', filled(`/api/agents/${agentId}${path}`), options),
    )
  }
  await step('createSource', () => upload(app, { name: 'a.txt', content: 'Tea is hot.', agentId }))
  const source = `/api/agents/${agentId}/sources/${made.createSource}`
  const newer = await formOf([['file', new File(['Tea is cold.'], 'a.txt')]])
  await step('replaceSourceFile', () => app.call('PUT', `${source}/file`, newer))
  await step('reindexSource', () => app.call('POST', `${source}/reindex`))
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

async function newEntries(app: TestApp, agentId: string, seen: Set<string>): Promise<AuditEntry[]> {
  const { body } = await app.call<{ entries: AuditEntry[] }>('GET', `/api/agents/${agentId}/audit?limit=1000`)
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
