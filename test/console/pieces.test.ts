/** The pieces that all views share (fields, notices, menus, dialogs, addresses), in the real browser on the real service. */
import type { CDPSession, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import { type ConsoleBrowser, drawn, findViolations, startConsoleBrowser } from './console-browser.ts'

let browser: ConsoleBrowser
let stage: ChatStage
let origin: string
let home: string
let chat: string
let workflow: string

beforeAll(async () => {
  browser = await startConsoleBrowser()
  stage = await setChatStage()
  origin = await stage.app.listen()
  chat = await stage.makeChat()
  home = chat.replace(/^\/api\/agents(.*)\/chat$/, '/a$1')
  const workflows = workflowCalls(stage.app, chat.replace(/\/chat$/, ''))
  await makeAgent(stage.app, { name: 'noticed' })
  workflow = await workflows.create({ start: { type: 'trigger' } }, [])
})

afterAll(async () => {
  await browser.close()
  await stage[Symbol.asyncDispose]()
})

const open = (path: string, expected = /^$/) => browser.open(origin, { path: `${home}/${path}`, expected })
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).last()

/** A field that acts on Enter, or on other keys. */
interface Field {
  path(): string | Promise<string>
  field(page: Page): Locator
  /** Opens the field. */
  begin?(page: Page): Promise<unknown>
  /** Defaults to Enter. */
  key?: string
  text?: string
}

async function thread(): Promise<string> {
  const { body } = await stage.send(chat, { content: 'How hot is the kiln?' })
  return `chat?conversation=${body.assistantMessage.conversationId}`
}

const rename: Field = {
  path: thread,
  async begin(page) {
    await button(page, /^Actions for/).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
  },
  field: page => page.getByRole('textbox', { name: /^New name of/ }),
}
const comment: Field = {
  path: thread,
  begin: page => button(page, 'Bad answer').click(),
  field: page => page.getByRole('textbox', { name: 'Comment on the answer' }),
}
const definition: Field = {
  path: () => `workflows/${workflow}?edit=1`,
  field: page => page.getByRole('textbox', { name: 'Definition' }),
}
const newAgent: Field = {
  path: () => 'agents?create=1',
  field: page => page.getByRole('textbox', { name: /^Name/ }),
}

const fields: Record<string, Field> = {
  message: { path: () => 'chat', field: page => page.getByRole('textbox', { name: 'Message' }) },
  commands: {
    path: () => 'home',
    begin: page => button(page, 'Search and commands').click(),
    field: page => page.getByRole('combobox', { name: 'Go to, or do…' }),
    text: 'knowl',
  },
  'agent switch': {
    path: () => 'home',
    begin: page => button(page, 'Switch agent').click(),
    field: page => page.getByRole('combobox', { name: 'Find an agent' }),
    text: 'default',
  },
  'new agent': newAgent,
  'new agent, by Control': { ...newAgent, key: 'Control+Enter', text: 'oven' },
  'name of a conversation': rename,
  'name of a conversation, cancelled': { ...rename, key: 'Escape' },
  'comment on an answer': comment,
  'comment on an answer, cancelled': { ...comment, key: 'Escape' },
  'definition of a workflow': { ...definition, key: 'Control+Enter' },
  'definition of a workflow, by S': { ...definition, key: 'Control+s' },
  'definition of a workflow, closed': { ...definition, key: 'Escape' },
  'filter of the audit log': {
    path: () => 'audit',
    field: page => page.getByRole('textbox', { name: 'Object' }),
  },
  'question to the documents': {
    path: () => 'knowledge/test',
    field: page => page.getByRole('textbox', { name: 'Question' }),
  },
}

/** Sends a key without its character, as input methods do. */
async function press(cdp: CDPSession, chord: string, code?: number): Promise<void> {
  const [key = '', held] = chord.split('+').toReversed()
  const codes: Record<string, number> = { Enter: 13, Escape: 27, s: 83 }
  const event = { key, modifiers: held === undefined ? 0 : 2, windowsVirtualKeyCode: code ?? codes[key] ?? 0 }
  await cdp.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...event })
  await cdp.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
}

it('a key that an input method takes does nothing else, in each field that acts on it', async () => {
  const page = await open('home')
  const cdp = await page.context().newCDPSession(page)
  let sent = 0
  page.on('request', request => {
    if (request.method() !== 'GET') sent += 1
  })
  for (const [name, { path, field, begin, key = 'Enter', text = 'kiln' }] of Object.entries(fields)) {
    await page.goto(`${origin}${home}/${await path()}`)
    await begin?.(page)
    await field(page).focus()
    const state = async () => ({
      sent,
      url: page.url(),
      open: await page.locator('dialog:modal, [role=alert]').count(),
      isFocused: await field(page).evaluateAll(found => found.some(one => one.matches(':focus'))),
    })
    await cdp.send('Input.imeSetComposition', {
      text,
      selectionStart: text.length,
      selectionEnd: text.length,
    })
    await page.waitForFunction(`document.activeElement.value.includes('${text}')`)
    const before = await state()
    expect(before.isFocused, name).toBe(true)
    await press(cdp, key)
    // Safari ends the composition before it reports the key that ended it.
    await cdp.send('Input.insertText', { text })
    await press(cdp, key, 229)
    await drawn(page)
    expect(await state(), name).toEqual(before)
    await page.keyboard.press(key)
    await expect.poll(state, { message: name }).not.toEqual(before)
  }
})

/** From here on, the time of the page passes only by its clock. */
async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt(Number(await page.evaluate('Date.now()')) + 100)
}

describe('notices', () => {
  /** A notice, on a page whose time passes only by its clock. */
  async function showNotice(): Promise<{ page: Page; notice: Locator }> {
    const page = await open('agents')
    await page.clock.install()
    await button(page, 'Actions for noticed').click()
    await page.getByRole('menuitem', { name: /^(?:Pause|Resume)$/ }).click()
    const notice = page.getByRole('status').locator('.toast')
    await notice.waitFor()
    await stopClock(page)
    return { page, notice }
  }

  it('stay under the pointer and the focus, and leave after the rest of their time', async () => {
    const { page, notice } = await showNotice()
    const close = notice.getByRole('button', { name: 'Close' })
    await page.clock.runFor(2000)
    await notice.hover()
    await page.clock.runFor(60_000)
    await close.focus()
    await page.mouse.move(0, 0)
    await page.clock.runFor(60_000)
    expect(await notice.count()).toBe(1)
    await close.blur()
    await page.clock.runFor(1000)
    expect(await notice.count()).toBe(1)
    await page.clock.runFor(3000)
    await notice.waitFor({ state: 'detached' })
  })

  it('are closed by hand; one with Undo then sends its change', async () => {
    const page = await open(await thread())
    await button(page, /^Actions for/).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    const isDeleted = page.waitForRequest(request => request.method() === 'DELETE')
    await page.locator('.toast').getByRole('button', { name: 'Close' }).click()
    await isDeleted
    await page.locator('.toast').waitFor({ state: 'detached' })
  })

  it('of errors are alerts, and stay until they are closed', async () => {
    const page = await open('agents', /500/)
    await page.route(/\/api\/agents\/[^/]+$/, route => route.fulfill({ status: 500, json: {} }))
    await page.clock.install()
    await button(page, 'Actions for noticed').click()
    await page.getByRole('menuitem', { name: /^(?:Pause|Resume)$/ }).click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    await page.clock.runFor(60_000)
    expect(await alert.count()).toBe(1)
    expect(await findViolations(page)).toEqual([])
    await alert.getByRole('button', { name: 'Close' }).click()
    await alert.waitFor({ state: 'detached' })
  })
})

it('a list of choices that finds nothing says so, and is not open', async () => {
  const page = await open('home')
  await button(page, 'Search and commands').click()
  const field = page.getByRole('combobox')
  expect(await field.getAttribute('aria-expanded')).toBe('true')
  await field.fill('no such view')
  await page.getByRole('status').getByText('Nothing found.').waitFor()
  expect(await field.getAttribute('aria-expanded')).toBe('false')
  expect(await findViolations(page)).toEqual([])
})

it('letters in a menu lead to the item whose name begins with them', async () => {
  const page = await open(await thread())
  await page.clock.install()
  await button(page, /^Actions for/).press('Enter')
  const focused = () => page.locator('[role^=menuitem]:focus').innerText()
  await expect.poll(focused).toBe('Rename')
  await stopClock(page)
  const typed: string[] = []
  for (const keys of ['e', 'e', 'export as j', 'EXPORT AS M', 'd', 'x']) {
    for (const key of keys) await page.keyboard.press(key)
    typed.push(await focused())
    await page.clock.runFor(1000)
  }
  expect(typed).toEqual([
    'Export as Markdown',
    'Export as JSON',
    'Export as JSON',
    'Export as Markdown',
    'Delete',
    'Delete',
  ])
})

it('a dialog that the browser closes is closed for its view, too', async () => {
  const page = await open('agents?create=1')
  await page.getByRole('dialog').waitFor()
  await page.evaluate('document.querySelector("dialog").close()')
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('')
})

it('parameters of an address that a view does not know are ignored', async () => {
  const page = await open('tools/new?type=none&tool=12')
  await page.getByRole('button', { name: 'HTTP', pressed: true }).waitFor()
  await page.goto(`${origin}${home}/audit?outcome=done&other=1`)
  await page.getByRole('table').waitFor()
})
