/** What waits for a person, decided in the console: the real browser on the real service. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import {
  type ConsoleBrowser,
  expectAccessible,
  findViolations,
  startConsoleBrowser,
  tabTo,
} from './console-browser.ts'

let browser: ConsoleBrowser
let stage: ChatStage
let origin: string

beforeAll(async () => {
  browser = await startConsoleBrowser()
  stage = await setChatStage({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
  origin = await stage.app.listen()
})

afterAll(async () => {
  await browser.close()
  await stage[Symbol.asyncDispose]()
})

async function makeAgent() {
  const chat = await stage.makeChat()
  const api = chat.replace(/\/chat$/, '')
  return { api, chat, id: api.split('/').at(-1) ?? '', workflows: workflowCalls(stage.app, api) }
}
type Made = Awaited<ReturnType<typeof makeAgent>>

/** A call that waits for approval; `amount` is among its arguments. */
async function askForCall({ api, chat }: Made, text: string, background = false) {
  const configuration = { code: 'return { sent: args.amount }' }
  const body = { requiresApproval: true, name: 'transfer', type: 'javascript', configuration }
  await stage.app.call('POST', `${api}/tools`, { body })
  stage.model.next(
    { stream: openaiToolCall('search_knowledge', { query: 'amount' }) },
    { stream: openaiToolCall('transfer', { amount: 7, text }) },
    { stream: openaiText('It waits for you.') },
  )
  await stage.send(chat, { content: 'Do it.', background })
}

async function askInWorkflow({ workflows }: Made, approval: string, name = 'Asks') {
  const nodes = { start: { type: 'trigger' }, ask: { type: 'wait', approval } }
  const workflow_id = await workflows.create(nodes, ['start > ask'], { name })
  const { execution_id } = (await workflows.execute({ workflow_id })).body
  await workflows.waiting(execution_id, 'ask')
  return execution_id
}

/** Opens the view and follows changes: those before the stream of changes is open would be missed. */
async function openFollowed(id: string) {
  const page = await browser.open(origin, { path: `/a/${id}/attention` })
  await Promise.all([page.waitForResponse(response => response.url().endsWith('/events')), page.reload()])
  return page
}

const hostile = '<img src=x onerror=alert(1)></script>\u202E"quoted\\" javascript:alert(1)'

it('all kinds show in one list with their count, free of violations', async () => {
  const agent = await makeAgent()
  const { api, id, workflows } = agent
  await askForCall(agent, hostile + 'x'.repeat(10_000))
  await askInWorkflow(agent, hostile + 'y'.repeat(1000), hostile)
  const wait = { start: { type: 'trigger' }, later: { type: 'wait', seconds: 7200 } }
  const waiting = (await workflows.execute({ workflow_id: await workflows.create(wait, ['start > later']) }))
    .body
  await workflows.waiting(waiting.execution_id, 'later')
  await uploadAndProcess(stage.app, { name: 'broken.pdf', content: 'no PDF', agentId: id })
  const message = `${hostile} You received 500.00 EUR`
  await stage.app.call('POST', `${api}/payment-notifications`, { body: { gateway: 'mpesa', message } })
  await stage.app.service.infrastructure.agentDatabases.use(id, async ({ db }) => {
    const server = {
      url: 'http://a.b/',
      auth_type: 'none',
      secret_set: null,
      status: 'connected',
      error: null,
    }
    const time = new Date().toISOString()
    await db
      .insertInto('mcp_servers')
      .values({ id: 's', name: hostile, ...server, created_at: time, updated_at: time })
      .execute()
    const tool = { server_id: 's', description: '', parameters: '{}', definition_hash: 'new' }
    await db
      .insertInto('mcp_tools')
      .values({ ...tool, name: 'changed', position: 0, approved_hash: 'old' })
      .execute()
  })
  const page = await browser.open(origin, { path: `/a/${id}/attention` })
  const list = page.getByRole('list', { name: 'What waits for a person' })
  await expectAccessible(page, () =>
    list.getByText('Arguments', { exact: false }).or(list.locator('pre')).first().waitFor(),
  )
  expect(await list.getByRole('listitem').count()).toBe(6)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('link', { name: /Needs you\s*6/ }).waitFor()
  // The whole arguments are there before they are approved.
  expect(await list.locator('pre').textContent()).toContain('x'.repeat(10_000))
  // A question that was cut says so.
  await list.getByText('onerror=alert(1)></script>').getByText('…').first().waitFor()
  await page.getByRole('button', { name: 'Match…' }).click()
  await page.getByText('There are no incoming transactions yet.').waitFor()
  expect(await findViolations(page)).toEqual([])
})

it('by keyboard alone a call is approved and a question rejected, and both leave the list', async () => {
  const agent = await makeAgent()
  const page = await openFollowed(agent.id)
  await page.getByText('Nothing needs you').waitFor()
  // They appear without a reload.
  await askForCall(agent, 'once')
  await page.getByText('"text": "once"').waitFor()
  await tabTo(page, 'button', 'Approve')
  await page.keyboard.press('Enter')
  await page.getByText('The call was made.').waitFor()
  await page.getByText('Nothing needs you').waitFor()
  const { approvals } = (
    await stage.app.call<{ approvals: { status: string }[] }>('GET', `${agent.chat}/approvals`)
  ).body
  expect(approvals.map(({ status }) => status)).toEqual(['done'])

  const execution = await askInWorkflow(agent, 'Send "it"?')
  await page.getByText('Send "it"?', { exact: true }).waitFor()
  await tabTo(page, 'button', 'Reject')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing needs you').waitFor()
  const { node_results } = await agent.workflows.reached(execution, 'complete')
  expect(node_results.at(-1)?.output).toMatchObject({ by: 'dev@example.com' })
})

it('a call is denied, and the turn that waits with it goes on', async () => {
  const agent = await makeAgent()
  const page = await openFollowed(agent.id)
  await askForCall(agent, 'never', true)
  await page.getByText('Without a decision the answer ends in 24 hours').waitFor()
  await page.getByRole('link', { name: 'Open conversation' }).click()
  await page.getByText('May the agent call transfer?').waitFor()
  await page.goBack()
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.getByText('Denied. The agent goes on without the call.').waitFor()
  await page.getByText('Nothing needs you').waitFor()
})

it('runs are opened, retried and terminated, payments recorded, sources tried again', async () => {
  const agent = await makeAgent()
  const { api, id, workflows } = agent
  const page = await openFollowed(id)
  const item = (title: string) => page.getByRole('listitem').filter({ hasText: title })

  const failing = { start: { type: 'trigger' }, fetch: { type: 'code', code: 'throw new Error("no shop")' } }
  const workflow_id = await workflows.create(failing, ['start > fetch'], { name: 'Stock' })
  await workflows.run(workflow_id)
  await item('Stock').getByText('no shop').waitFor()
  await item('Stock').getByRole('button', { name: 'Retry' }).click()
  await page.getByText('The run has started again.').waitFor()
  await item('Stock').nth(1).waitFor()
  await item('Stock').first().getByRole('link', { name: 'Open run' }).click()
  await page.getByRole('region', { name: 'Replay' }).waitFor()
  await page.goBack()

  await askInWorkflow(agent, 'Go on?', 'Waits')
  await item('Waits').waitFor()
  const later = { start: { type: 'trigger' }, later: { type: 'wait', seconds: 7200 } }
  await workflows.execute({
    workflow_id: await workflows.create(later, ['start > later'], { name: 'Reminder' }),
  })
  await item('Reminder').getByRole('button', { name: 'Terminate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Terminate' }).click()
  await item('Reminder').waitFor({ state: 'detached' })

  const body = { gateway: 'mpesa', message: 'You received 500.00 EUR from Lena Berg. Ref: INV-9' }
  await stage.app.call('POST', `${api}/payment-notifications`, { body })
  await item('mpesa').getByRole('button', { name: 'Record as a payment' }).click()
  await item('mpesa').waitFor({ state: 'detached' })
  // The second is matched with the transaction of the first, which is found by typing.
  await stage.app.call('POST', `${api}/payment-notifications`, {
    body: { gateway: 'bank', message: 'Payment of unknown origin arrived' },
  })
  await item('bank').getByRole('button', { name: 'Match…' }).click()
  await page.getByRole('combobox', { name: 'Transaction' }).fill('lena')
  await page.keyboard.press('Enter')
  await item('bank').waitFor({ state: 'detached' })

  await uploadAndProcess(stage.app, { name: 'broken.pdf', content: 'no PDF', agentId: id })
  await item('broken.pdf').getByRole('button', { name: 'Try again' }).click()
  await page.getByText('“broken.pdf” is being read again.').waitFor()
})

it('a viewer sees what waits and decides nothing', async () => {
  const agent = await makeAgent()
  await askForCall(agent, 'seen')
  await askInWorkflow(agent, 'Go on?')
  const body = { name: 'viewer', role: 'viewer' }
  const { key } = (await stage.app.call<{ key: string }>('POST', `${agent.api}/keys`, { body })).body
  const headers = { authorization: `Bearer ${key}` }
  const page = await browser.open(origin, { path: `/a/${agent.id}/attention`, headers })
  await page.getByText('"text": "seen"').waitFor()
  await page.getByRole('link', { name: 'Open run' }).waitFor()
  for (const name of [/Approve/, /Deny/, /Reject/, /Terminate/])
    expect(await page.getByRole('button', { name }).count(), String(name)).toBe(0)
})
