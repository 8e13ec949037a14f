/** Workflows and their runs in the console: the real browser on the real service. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Workflow } from '#features/workflows/workflows.schema.ts'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import {
  type ConsoleBrowser,
  expectAccessible,
  findViolations,
  startConsoleBrowser,
  tabTo,
} from './console-browser.ts'

let browser: ConsoleBrowser
let app: TestApp
let origin: string
let agentId: string
let api: string
let workflows: ReturnType<typeof workflowCalls>

beforeAll(async () => {
  browser = await startConsoleBrowser()
  app = await buildApp({ environment: { DEV_USER: 'ada@example.com' } })
  origin = await app.listen()
  agentId = await makeAgent(app)
  api = `/api/agents/${agentId}`
  workflows = workflowCalls(app, api)
})

afterAll(async () => {
  await browser.close()
  await app.close()
})

const orderNodes = {
  start: { type: 'trigger' },
  large: { type: 'if-else', conditions: [{ left: '{{order.total}}', operator: 'gte', right: 100 }] },
  lines: { type: 'loop', items: '{{order.lines}}', on_item_error: 'continue' },
  price: {
    type: 'code',
    code: 'if (args.loop.item < 0) throw new Error("no price"); return { price: args.loop.item * 2 }',
  },
  ask: { type: 'wait', approval: 'Accept order {{order.id}}?' },
  confirm: { type: 'code', code: 'return { confirmed: true }' },
  small: { type: 'code', code: 'return {}' },
}
const orderEdges = [
  'start > large',
  'large/true > lines',
  'large/false > small',
  'lines/item > price',
  'price > lines',
  'lines/done > ask',
  'ask/approved > confirm',
]
const order = { order: { id: 'A-17', total: 120, lines: [3, -1, 5] } }

const makeOrders = (name: string) => workflows.create(orderNodes, orderEdges, { name })
const viewOf = (workflowId: string, rest = '') => `/a/${agentId}/workflows/${workflowId}${rest}`
const step = (page: Page, name: string) => page.locator('.step-card').filter({ hasText: name })

/** A run that waits for its approval. */
async function waitingRun(name: string) {
  const workflow_id = await makeOrders(name)
  const { execution_id } = (await workflows.execute({ workflow_id, input: order })).body
  await workflows.waiting(execution_id, 'ask')
  return { workflow_id, execution_id, view: viewOf(workflow_id, `/runs/${execution_id}`) }
}

it('every view is free of violations, in both themes, wide, on a phone and at 320 pixels', async () => {
  const { workflow_id, view } = await waitingRun('Looked at')
  const page = await browser.open(origin, { path: `/a/${agentId}/workflows` })
  await expectAccessible(page, () => page.getByRole('link', { name: 'Looked at' }).waitFor())
  await page.goto(`${origin}${view}`)
  await expectAccessible(page, () => page.getByRole('slider', { name: 'Time of the run' }).waitFor())
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'dark' })
  const look = async (path: string, settled: () => Locator) => {
    await page.goto(`${origin}${path}`)
    await settled().first().waitFor()
    expect(await findViolations(page), path).toEqual([])
  }
  await look(`${view}?step=price`, () => page.getByRole('heading', { name: '3 runs of this step, 1 failed' }))
  await look(`${viewOf(workflow_id)}?edit=1`, () => page.getByRole('textbox', { name: 'Definition' }))
  await look(`/a/${agentId}/workflows?show=runs`, () => page.getByRole('link', { name: 'Looked at' }))
  await look(`/a/${agentId}/workflows?create=1`, () => page.getByRole('dialog'))
})

it('by keyboard alone a run is started, approved, replayed and looked into', async () => {
  const workflow_id = await makeOrders('By keys')
  const page = await browser.open(origin, { path: `/a/${agentId}/workflows` })
  await tabTo(page, 'link', 'By keys')
  await page.keyboard.press('Enter')
  await tabTo(page, 'button', 'Run')
  await page.keyboard.press('Enter')
  const input = page.getByRole('dialog').getByRole('textbox', { name: /^Input/ })
  expect(JSON.parse(await input.inputValue())).toEqual({ order: { id: '', total: '', lines: '' } })
  await tabTo(page, 'textbox', /^Input/)
  await page.keyboard.press('Control+a')
  await page.keyboard.type('{ wrong')
  await page.keyboard.press('Control+Enter')
  await page.getByText('This is no valid JSON.').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(JSON.stringify(order))
  await page.keyboard.press('Control+Enter')
  // The run is followed as it goes on.
  await page.getByText('Accept order A-17?').waitFor()
  await step(page, 'ask').getByText('waiting').waitFor()
  await tabTo(page, 'button', 'Approve')
  await page.keyboard.press('Enter')
  await step(page, 'confirm').getByText('done').waitFor()
  await page.getByRole('region', { name: 'Replay' }).getByText('complete').waitFor()

  await tabTo(page, 'slider', 'Time of the run')
  await page.keyboard.press('Home')
  await step(page, 'confirm').getByText('not yet').waitFor()
  const slider = page.getByRole('slider', { name: 'Time of the run' })
  for (let presses = 0; presses < 50; presses += 1) {
    if ((await slider.getAttribute('aria-valuetext'))?.includes('price')) break
    await page.keyboard.press('ArrowRight')
  }
  await step(page, 'price').getByText('running').waitFor()
  await page.keyboard.press('End')
  await step(page, 'small').getByText('not run').waitFor()

  await page.keyboard.press('Shift+Tab')
  await step(page, 'price').focus()
  await page.keyboard.press('Enter')
  const panel = page.getByRole('region', { name: 'price code' })
  await panel.getByRole('heading', { name: '3 runs of this step, 1 failed' }).waitFor()
  // The failed item is the first and open; another is opened by its button.
  expect(await panel.getByRole('row').nth(1).textContent()).toContain('Error: no price')
  await panel.getByRole('button', { name: 'Item 2' }).click()
  expect(await panel.getByRole('figure', { name: 'Output' }).textContent()).toContain('"price": 10')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toContain('price')
  const runs = await app.call<{ meta: { total: number } }>(
    'GET',
    `${api}/workflows/executions?workflow_id=${workflow_id}`,
  )
  expect(runs.body.meta.total).toBe(1)
})

it('the outline says all that the graph shows, and is what a phone gets', async () => {
  const { view } = await waitingRun('Outlined')
  const page = await browser.open(origin, { path: view, width: 390 })
  const steps = page.getByRole('list', { name: 'Outline' }).getByRole('listitem')
  await steps.first().waitFor()
  expect(await page.getByRole('region', { name: 'Graph' }).count()).toBe(0)
  const texts = (await steps.allTextContents()).map(text => text.replace(/\s+/g, ' '))
  expect(texts).toEqual([
    expect.stringMatching(/^1start.*done.*2 large/),
    expect.stringMatching(/^2large.*done.*yes: 3 lines.*no: 7 small/),
    expect.stringMatching(/^3lines.*each item: 4 price.*afterwards: 5 ask/),
    expect.stringMatching(/^4price.*failed.*3 lines/),
    expect.stringMatching(/^5ask.*waiting.*approved: 6 confirm/),
    expect.stringMatching(/^6confirm.*not yet.*Ends here/),
    expect.stringMatching(/^7small.*not yet.*Ends here/),
  ])
  await steps.nth(3).getByRole('button', { name: /price/ }).click()
  await page.getByRole('region', { name: 'price code' }).waitFor()
})

describe('a run', () => {
  it('that failed is retried at the failed step, and repeated with its input', async () => {
    const nodes = {
      start: { type: 'trigger' },
      fetch: { type: 'code', code: 'throw new Error("no shop")' },
    }
    const workflow_id = await workflows.create(nodes, ['start > fetch'], { name: 'Fails' })
    const input = { big: 1, text: 'kept' }
    const { id } = await workflows.run(workflow_id, input)
    const page = await browser.open(origin, { path: viewOf(workflow_id, `/runs/${id}`) })
    await step(page, 'fetch').getByText('failed').waitFor()
    await page.getByRole('button', { name: 'Retry from the failed step' }).click()
    // The new run is the first of two, and the one that is shown.
    await page.locator('tbody tr:first-child:not(:last-child) [aria-current=true]').waitFor()
    await step(page, 'fetch').getByText('failed').waitFor()
    await page.getByRole('button', { name: 'Run again with this input' }).click()
    const field = page.getByRole('dialog').getByRole('textbox', { name: /^Input/ })
    expect(JSON.parse(await field.inputValue())).toEqual(input)
  })

  it('is terminated after a question', async () => {
    const { view } = await waitingRun('Ended')
    const page = await browser.open(origin, { path: view })
    await page.getByRole('button', { name: 'Terminate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Terminate' }).click()
    await page.getByRole('region', { name: 'Replay' }).getByText('terminated').waitFor()
    expect(await page.getByRole('button', { name: 'Terminate' }).count()).toBe(0)
  })

  it('shows numbers as they are, and whole values on demand', async () => {
    const nodes = {
      start: { type: 'trigger' },
      long: { type: 'code', code: `/* ${'x'.repeat(70_000)} the end */ return { id: args.input.id }` },
    }
    const workflow_id = await workflows.create(nodes, ['start > long'], { name: 'Long' })
    const { execution_id } = (
      await app.call<{ execution_id: string }>('POST', `${api}/workflows/execute`, {
        payload: `{"workflow_id":"${workflow_id}","input":{"id":12345678901234567890},"wait":20}`,
        headers: { 'content-type': 'application/json' },
      })
    ).body
    const page = await browser.open(origin, { path: viewOf(workflow_id, `/runs/${execution_id}?step=long`) })
    await page.getByRole('figure', { name: 'Output' }).getByText('12345678901234567890').waitFor()
    const whole = page.waitForResponse(response => response.url().endsWith('/nodes/long'))
    await page.getByRole('button', { name: 'Load the whole values' }).click()
    expect(await (await whole).text()).toContain('the end')
    await page.getByRole('button', { name: 'Load the whole values' }).waitFor({ state: 'detached' })
  })
})

describe('the definition as JSON', () => {
  const editor = (page: Page) => page.getByRole('textbox', { name: 'Definition' })

  it('is checked by the server, which names the step; numbers stay as they were', async () => {
    const exact = '12345678901234567890'
    const id = await workflows.create({ start: { type: 'trigger' } }, [], { name: 'Edited', status: 'draft' })
    const page = await browser.open(origin, { path: `${viewOf(id)}?edit=1`, expected: /400/ })
    const written = JSON.parse(await editor(page).inputValue()) as Workflow
    const change = async (definition: string) => {
      await editor(page).fill(definition)
      await page.keyboard.press('Control+s')
    }
    await change('{"nodes": [')
    await page.getByRole('alert').getByText('This is no valid JSON').waitFor()
    const node = (data: object, type = 'wait') => ({ id: 'pause', type, position: { x: 0, y: 0 }, data })
    const edges = [{ id: 'e', source: 'start', target: 'pause' }]
    const definition = (added: object) =>
      JSON.stringify({ ...written, nodes: [...written.nodes, added], edges }, undefined, 2)
    await change(definition(node({ seconds: -5, colour: 'red' })))
    const problem = page.getByRole('alert').getByRole('button', { name: 'Go to pause' })
    await problem.first().waitFor()
    await problem.first().click()
    expect(await page.evaluate('getSelection().toString()')).toBe('"id": "pause"')
    await change(
      definition(node({ value: 1, cases: [{ handle: 'a', value: 0 }] }, 'switch')).replace(
        '"value": 0',
        `"value": ${exact}`,
      ),
    )
    await page.getByText('Saved as version 2.').waitFor()
    expect(await editor(page).inputValue()).toContain(exact)
    await step(page, 'pause').waitFor()
    const stored = await app.service.app.inject({ url: `${api}/workflows/${id}` })
    expect(stored.payload).toContain(exact)
  })

  it('asks before it discards what was written', async () => {
    const id = await workflows.create({ start: { type: 'trigger' } }, [], { name: 'Kept', status: 'draft' })
    const page = await browser.open(origin, { path: `${viewOf(id)}?edit=1` })
    await editor(page).fill('{}')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(await editor(page).inputValue()).toBe('{}')
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  })
})

it('a workflow is created with its trigger, activated and deleted', async () => {
  const page = await browser.open(origin, { path: `/a/${agentId}/workflows?create=1`, expected: /400/ })
  const dialog = page.getByRole('dialog', { name: 'Create workflow' })
  await dialog.getByLabel('Name').fill('  ')
  await dialog.getByRole('button', { name: 'Create workflow' }).click()
  await dialog.locator('.error').first().waitFor()
  await dialog.getByLabel('Name').fill('Made here')
  await dialog.getByRole('button', { name: 'Create workflow' }).click()
  await page.getByRole('textbox', { name: 'Definition' }).waitFor()
  await step(page, 'start').waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  const choose = async (item: string) => {
    await page.getByRole('button', { name: 'Actions for Made here' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await choose('Activate')
  await page.getByText('active', { exact: true }).last().waitFor()
  await choose('Delete')
  await page.getByRole('dialog').getByRole('textbox').fill('Made here')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('“Made here” was deleted.').waitFor()
})

it('names and values of others are text, whatever they hold', async () => {
  const hostile =
    '<img src=x onerror=alert(1)></script><script>fetch("https://evil.example")</script>\u202Ejavascript:alert(1)'
  const nodes = {
    start: { type: 'trigger' },
    echo: { type: 'code', code: 'throw new Error(args.input.text)' },
  }
  const workflow_id = await workflows.create(nodes, ['start > echo'], { name: hostile, description: hostile })
  const { id } = await workflows.run(workflow_id, { text: hostile + 'x'.repeat(10_000) })
  const page = await browser.open(origin, { path: viewOf(workflow_id, `/runs/${id}?step=echo`) })
  await page.getByRole('heading', { level: 2, name: hostile }).waitFor()
  await page.getByRole('region', { name: 'echo code' }).getByText('onerror=alert(1)').first().waitFor()
  await page.goto(`${origin}/a/${agentId}/workflows?show=runs`)
  await page.getByRole('link', { name: 'onerror=alert(1)' }).first().waitFor()
})

it('a viewer sees all and changes nothing', async () => {
  const { view } = await waitingRun('Only seen')
  const key = await app.call<{ key: string }>('POST', `${api}/keys`, {
    body: { name: 'viewer', role: 'viewer' },
  })
  const headers = { authorization: `Bearer ${key.body.key}` }
  const page = await browser.open(origin, { path: view, headers })
  await step(page, 'ask').getByText('waiting').waitFor()
  await page.getByRole('slider', { name: 'Time of the run' }).waitFor()
  for (const name of ['Run', 'Edit JSON', 'Approve', 'Terminate', 'Actions for Only seen'])
    expect(await page.getByRole('button', { name }).count(), name).toBe(0)
})
