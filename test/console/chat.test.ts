/** The chat of the console, in the real browser on the real service with a model server behind it. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { putMessage } from '#features/chat/rows/messages.repository.ts'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { heldStream } from '#test/support/chat-model.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { eventually } from '#test/support/eventually.ts'
import { startGateway } from '#test/support/gateway.ts'
import { openaiText, openaiToolCall } from '#test/support/model-server.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import {
  answerLate,
  type ConsoleBrowser,
  drawn,
  expectAccessible,
  startConsoleBrowser,
  tabTo,
} from './console-browser.ts'

let browser: ConsoleBrowser
let stage: ChatStage
let origin: string

beforeAll(async () => {
  browser = await startConsoleBrowser()
  stage = await setChatStage()
  origin = await stage.app.listen()
})

afterAll(async () => {
  await browser.close()
  await stage[Symbol.asyncDispose]()
})

const agentIn = (chat: string) => /agents\/([^/]+)/.exec(chat)?.[1] ?? ''
const viewOf = (chat: string, conversation?: string) =>
  `/a/${agentIn(chat)}/chat${conversation === undefined ? '' : `?conversation=${conversation}`}`
const box = (page: Page) => page.getByRole('textbox', { name: 'Message' })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

async function ask(page: Page, question: string): Promise<void> {
  await box(page).fill(question)
  await page.keyboard.press('Enter')
}

/** An agent with a tool whose calls are all decided on. */
async function makePayer(): Promise<string> {
  const chat = await stage.makeChat()
  const configuration = { code: 'return { sent: args.amount }' }
  const tool = { name: 'transfer', type: 'javascript', requiresApproval: 'always', configuration }
  await stage.app.call('POST', chat.replace(/chat$/, 'tools'), { body: tool })
  return chat
}

async function decide(chat: string, approved: boolean): Promise<void> {
  const { body } = await stage.app.call<{ approvals: { toolCallId: string }[] }>(
    'GET',
    `${chat}/approvals?status=pending`,
  )
  await stage.app.call('POST', `${chat}/approvals/${body.approvals[0]?.toolCallId}`, { body: { approved } })
}

async function converse(chat: string, content: string): Promise<string> {
  const { body } = await stage.send(chat, { content })
  return body.assistantMessage.conversationId
}

describe('a conversation', () => {
  it('begins, is stopped, answered again, found and deleted by keyboard alone', async () => {
    const chat = await stage.makeChat()
    const page = await browser.open(origin, { path: viewOf(chat) })
    await page.getByRole('heading', { name: 'What would you like to know?' }).waitFor()
    await tabTo(page, 'textbox', 'Message')
    const held = heldStream(['The kiln', ' is'], [' hot.'])
    stage.model.next(held.reply)
    await page.keyboard.type('How hot is it?')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('In degrees.')
    await page.evaluate(`
      const isBeginning = node => node.matches?.('.empty, :has(.empty)')
      new MutationObserver(changes => {
        if (changes.some(({ addedNodes }) => [...addedNodes].some(isBeginning))) window.hasBegunTwice = true
      }).observe(document.body, { childList: true, subtree: true })`)
    await page.keyboard.press('Enter')
    await page.getByText('The kiln is').waitFor()
    await page.waitForURL('**/chat?conversation=*')
    expect(await page.evaluate('window.hasBegunTwice')).toBeUndefined()
    expect(await box(page).evaluate(element => element.matches(':focus'))).toBe(true)
    await page.getByRole('status').getByText('Thinking …').waitFor()
    await tabTo(page, 'button', 'Stop')
    await page.keyboard.press('Enter')
    await page.getByText('Stopped. The answer is not complete.').waitFor()
    await held.ended
    stage.model.next({ stream: openaiText('It is 1280 degrees hot.') })
    await tabTo(page, 'button', 'Answer again')
    await page.keyboard.press('Enter')
    await page.locator('.answer').getByText('It is 1280 degrees hot.').waitFor()
    await page.getByRole('status').getByText('Answer: It is 1280 degrees hot.').waitFor()
    await page.getByText('The kiln is').waitFor({ state: 'detached' })
    const [asked, given, ...others] = await stage.messages(chat)
    expect([asked?.content, given?.content]).toEqual([
      'How hot is it?\nIn degrees.',
      'It is 1280 degrees hot.',
    ])
    expect(others).toEqual([])
    await page.getByRole('searchbox', { name: 'Find a conversation' }).fill('no such words')
    await page.getByText('No conversation has these words').waitFor()
    await page.getByRole('searchbox', { name: 'Find a conversation' }).fill('how hot')
    await page.getByRole('link', { name: /How hot is it/ }).waitFor()
    await tabTo(page, 'button', /^Actions for “How hot/)
    await page.keyboard.press('Enter')
    await page.locator('[role=menuitem]:focus').waitFor()
    await page.keyboard.press('d')
    await page.keyboard.press('Enter')
    await button(page, 'Undo').click()
    await page.getByRole('link', { name: /How hot is it/ }).waitFor()
  })

  it('is stopped by Escape, unless that closes something', async () => {
    const chat = await stage.makeChat()
    const page = await browser.open(origin, { path: viewOf(chat) })
    const held = heldStream(['One'], [' and two.'])
    stage.model.next(held.reply)
    await ask(page, 'Count.')
    await page.locator('.answer').getByText('One').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await button(page, 'Stop').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Stopped. The answer is not complete.').waitFor()
    await held.ended
    const [, given] = await stage.messages(chat)
    expect(given).toMatchObject({ content: 'One', metadata: { stopped: true } })
  })

  it('goes on when the page is loaded again, and shows the whole answer', async () => {
    const chat = await stage.makeChat()
    const page = await browser.open(origin, { path: viewOf(chat) })
    const held = heldStream(['One'], [' and two.'])
    stage.model.next(held.reply)
    await ask(page, 'Count.')
    await page.locator('.answer').getByText('One').waitFor()
    await page.waitForURL('**/chat?conversation=*')
    await page.reload()
    await page.locator('.answer').getByText('One').waitFor()
    await button(page, 'Stop').waitFor()
    await page.getByText('Writing …').waitFor()
    held.open()
    await page.locator('.answer').getByText('One and two.').waitFor()
    await button(page, 'Answer again').waitFor()
    await expect.poll(() => page.getByRole('article').count()).toBe(2)
  })

  it('goes on where the server cut the connection, without a word twice', async () => {
    const chat = await stage.makeChat()
    const page = await browser.open(origin, { path: viewOf(chat), expected: /ERR_/ })
    const held = heldStream(['One'], [' and two.'])
    stage.model.next(held.reply)
    await ask(page, 'Count.')
    await page.locator('.answer').getByText('One').waitFor()
    const again = page.waitForRequest(request => /events\?after=/.test(request.url()))
    stage.app.service.app.server.closeAllConnections()
    await again
    held.open()
    await page.locator('.answer').getByText('One and two.', { exact: true }).waitFor()
    await button(page, 'Answer again').waitFor()
    await expect.poll(() => page.getByRole('article').count()).toBe(2)
  })

  it('is sent once where its request was cut', async () => {
    const chat = await stage.makeChat()
    const page = await browser.open(origin, { path: viewOf(chat), expected: /ERR_/ })
    let sent = 0
    await page.route(`**${chat}`, async route => {
      if (route.request().method() !== 'POST') return route.continue()
      sent += 1
      if (sent > 1) return route.continue()
      await route.fetch()
      await route.abort('connectionreset')
    })
    await ask(page, 'Once?')
    await page.locator('.answer').getByText('Hello from the model.').waitFor()
    await button(page, 'Answer again').waitFor()
    expect([sent, (await stage.messages(chat)).length]).toEqual([2, 2])
  })

  it('is seen as it comes in a second tab, which can stop it', async () => {
    const chat = await stage.makeChat()
    const conversation = await converse(chat, 'First.')
    const path = viewOf(chat, conversation)
    const [page, other] = [await browser.open(origin, { path }), await browser.open(origin, { path })]
    await button(other, 'Answer again').waitFor()
    const held = heldStream(['One'], [' and two.'])
    stage.model.next(held.reply)
    await ask(page, 'Count.')
    await other.locator('.answer').getByText('One').waitFor()
    await expect.poll(() => other.getByRole('article').count()).toBe(4)
    await button(other, 'Stop').click()
    for (const tab of [page, other]) {
      await tab.getByText('Stopped. The answer is not complete.').waitFor()
      await button(tab, 'Answer again').waitFor()
      await expect.poll(() => tab.getByRole('article').count()).toBe(4)
    }
    await held.ended
  })

  it('goes on while other views are open', async () => {
    const chat = await stage.makeChat()
    const page = await browser.open(origin, { path: viewOf(chat) })
    const held = heldStream(['One'], [' and two.'])
    stage.model.next(held.reply)
    await ask(page, 'Count.')
    await page.locator('.answer').getByText('One').waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    held.open()
    await held.ended
    await page.goBack()
    await page.locator('.answer').getByText('One and two.').waitFor()
    await expect.poll(() => page.getByRole('article').count()).toBe(2)
  })

  it('that is answered elsewhere is followed, and says so to who writes in it', async () => {
    const chat = await stage.makeChat()
    const conversation = await converse(chat, 'First.')
    const page = await browser.open(origin, { path: viewOf(chat, conversation), expected: /409/ })
    await page.getByText('Hello from the model.').waitFor()
    const held = heldStream(['From elsewhere'], [', to its end.'])
    stage.model.next(held.reply)
    const elsewhere = stage.send(chat, { content: 'Second.', conversationId: conversation })
    await held.begun
    await page.getByText('An answer is being given in this conversation, from elsewhere').waitFor()
    await page.locator('.answer').getByText('From elsewhere').waitFor()
    // What was not taken is there again before the messages have been read.
    const isRead = Promise.withResolvers<void>()
    await page.route(`**${chat}?*`, route => isRead.promise.then(() => route.continue()))
    await ask(page, 'Third.')
    await page.getByText('This conversation is being answered elsewhere.').waitFor()
    expect(await box(page).inputValue()).toBe('Third.')
    isRead.resolve()
    held.open()
    await elsewhere
    await page.locator('.answer').getByText('From elsewhere, to its end.').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('Third.', { exact: true }).waitFor()
    await expect.poll(() => page.locator('.answer').getByText('Hello from the model.').count()).toBe(2)
  })

  it('of 1,000 messages opens at its end, and has the earlier ones as it is scrolled', async () => {
    const chat = await stage.makeChat()
    const conversation = await converse(chat, 'Message 0')
    await addMessages(agentIn(chat), conversation, 998)
    const page = await browser.open(origin, { path: viewOf(chat, conversation) })
    await page.getByText('Message 999', { exact: true }).waitFor()
    expect(await page.getByRole('article').count()).toBe(50)
    const scroller = page.getByRole('region', { name: 'Conversation', exact: true })
    const fromEnd = () =>
      scroller.evaluate(element => element.scrollHeight - element.clientHeight - element.scrollTop)
    await expect.poll(fromEnd).toBeLessThan(2)
    await scroller.evaluate(element => element.scrollTo(0, 0))
    await expect.poll(() => page.getByRole('article').count()).toBe(100)
    expect(await fromEnd()).toBeGreaterThan(1000)
    const held = heldStream(['Here'], [' it is.'])
    stage.model.next(held.reply)
    await ask(page, 'More?')
    await held.begun
    expect(await fromEnd()).toBeGreaterThan(1000)
    await button(page, 'To the end').click()
    held.open()
    await page.locator('.answer').getByText('Here it is.').waitFor()
    await expect.poll(fromEnd).toBeLessThan(2)
  })
})

/** From the third on: a question and its answer are there. */
async function addMessages(agentId: string, conversationId: string, count: number): Promise<void> {
  const message = { conversationId, toolCalls: null, toolResults: null }
  await stage.app.service.infrastructure.agentDatabases.use(agentId, async ({ db }) => {
    for (let at = 2; at < count + 2; at += 1) {
      const role = at % 2 === 0 ? 'user' : 'assistant'
      const createdAt = new Date(Date.now() + at).toISOString()
      await putMessage(db, { ...message, id: `many-${at}`, role, content: `Message ${at}`, createdAt })
    }
  })
}

describe('an answer', () => {
  it('shows its steps, and goes on in its place once its call is approved by keyboard', async () => {
    const chat = await makePayer()
    const page = await browser.open(origin, { path: viewOf(chat) })
    const held = heldStream(['It is'], [' done.'])
    stage.model.next(
      { stream: openaiToolCall('search_knowledge', { query: 'amount' }) },
      { stream: openaiToolCall('transfer', { amount: 7 }) },
      held.reply,
    )
    await ask(page, 'Transfer it.')
    await page.getByText('May the agent call transfer?').waitFor()
    await page.getByText('Without a decision the answer ends').waitFor()
    await page.getByRole('status').getByText('The agent waits for a decision').waitFor()
    const steps = page.getByRole('list', { name: 'Steps' }).getByRole('listitem')
    await expect.poll(() => steps.allInnerTexts()).toHaveLength(2)
    await steps.first().locator('summary').click()
    await page.getByRole('figure', { name: 'Result: search_knowledge' }).waitFor()
    await page.getByRole('link', { name: /^Transfer it.*waits for approval/s }).waitFor()
    await expectAccessible(page, () => button(page, 'Approve').waitFor())
    await tabTo(page, 'button', 'Approve')
    await page.keyboard.press('Enter')
    await page.getByText('Approved. The agent goes on.').waitFor()
    await page.locator('.answer').getByText('It is').waitFor()
    await button(page, 'Stop').waitFor()
    held.open()
    await page.locator('.answer').getByText('It is done.').waitFor()
    await button(page, 'Answer again').waitFor()
    await expect.poll(() => page.getByRole('article').count()).toBe(2)
    const [, given] = await stage.messages(chat)
    expect(given?.toolResults?.[1]).toMatchObject({ result: { sent: 7 } })
  })

  it('that waits is there after a reload, and goes on or is stopped as others decide', async () => {
    const chat = await makePayer()
    const page = await browser.open(origin, { path: viewOf(chat) })
    stage.model.next({ stream: openaiToolCall('transfer', { amount: 7 }) })
    await ask(page, 'Transfer it.')
    await button(page, 'Approve').waitFor()
    await page.reload()
    await button(page, 'Approve').waitFor()
    const held = heldStream(['It is'], [' done.'])
    stage.model.next(held.reply)
    await decide(chat, false)
    await page.locator('.answer').getByText('It is').waitFor()
    stage.model.next({ stream: openaiToolCall('transfer', { amount: 8 }) })
    held.open()
    await page.locator('.answer').getByText('It is done.').waitFor()
    await button(page, 'Answer again').waitFor()
    await ask(page, 'Once more.')
    await button(page, 'Approve').waitFor()
    await button(page, 'Stop').click()
    await page.getByText('Stopped. The answer is not complete.').waitFor()
    await button(page, 'Approve').waitFor({ state: 'detached' })
    expect((await stage.messages(chat)).map(({ toolResults }) => toolResults?.length)).toEqual([
      ...[undefined, 1, undefined, 1],
    ])
  })

  it('that waits for a person in its browser leads there, and goes on in its place', async () => {
    const chat = await stage.makeChat({ browser_tools: true })
    const page = await browser.open(origin, { path: viewOf(chat) })
    stage.model.next({ stream: openaiToolCall('browser_ask_person', { reason: 'Sign in, please' }) })
    await ask(page, 'Sign in.')
    const link = await page.getByRole('link', { name: 'Open the browser' }).getAttribute('href')
    const session = decodeURIComponent(/\/browser\/([^/]+)$/.exec(link ?? '')?.[1] ?? '')
    await stage.app.call('POST', `${chat.replace(/chat$/, 'browser')}/${session}/takeover/end`, { body: {} })
    await page.locator('.answer').getByText('Hello from the model.').waitFor()
    await button(page, 'Answer again').waitFor()
  })

  it('that waits keeps the next message, and gives way to it on demand', async () => {
    const chat = await makePayer()
    const page = await browser.open(origin, { path: viewOf(chat), expected: /409/ })
    stage.model.next({ stream: openaiToolCall('transfer', { amount: 7 }) })
    await ask(page, 'Transfer it.')
    await button(page, 'Approve').waitFor()
    await ask(page, 'Never mind.')
    await page.getByRole('alert').getByText('waits for a decision on the call of transfer').waitFor()
    expect(await box(page).inputValue()).toBe('Never mind.')
    await expectAccessible(page, () => button(page, 'Deny that call and send this').waitFor())
    // The browser learns from the stored answer alone that the wait is over.
    const held = Promise.withResolvers<void>()
    const turnAsked = page.waitForRequest(/\/turn$/)
    await page.route(/\/turn$|\/turns\/[^/]+\/events/, route => held.promise.then(() => route.continue()))
    await page.route(`**${chat}?*`, async route => {
      await eventually(async () => expect((await stage.messages(chat)).at(-1)?.content).toMatch('Hello'))
      await route.continue()
    })
    await button(page, 'Deny that call and send this').click()
    await turnAsked
    await page.locator('.failure').waitFor()
    expect(await page.getByRole('article').count()).toBe(4)
    held.resolve()
    await page.locator('.answer').getByText('Hello from the model.').waitFor()
    await page.locator('.failure').getByText('This call was refused: a new message came').waitFor()
    await button(page, 'Answer again').waitFor()
    await expect.poll(() => page.getByRole('article').count()).toBe(4)
    expect(await button(page, 'Approve').count()).toBe(0)
    const [, refused, , given] = await stage.messages(chat)
    expect([refused?.toolResults?.[0]?.result, given?.content]).toEqual([undefined, 'Hello from the model.'])
  })

  it('is not undone by what was read before its end and comes behind it', async () => {
    const chat = await makePayer()
    const page = await browser.open(origin, { path: viewOf(chat), expected: /409/ })
    const first = heldStream(['One'], [' and two.'])
    stage.model.next(first.reply)
    const messages = await answerLate(page, `**${chat}?*`)
    await ask(page, 'Count.')
    await messages.read
    await page.waitForURL('**/chat?conversation=*')
    await page.locator('.answer').getByText('One').waitFor()
    await page.evaluate(`
      window.fewest = 2
      const count = () => { fewest = Math.min(fewest, document.querySelectorAll('article').length) }
      new MutationObserver(count).observe(document.body, { childList: true, subtree: true })`)
    first.open()
    await page.locator('.answer').getByText('One and two.').waitFor()
    await eventually(async () => expect((await stage.messages(chat)).at(-1)?.content).toBe('One and two.'))
    messages.arrive()
    await button(page, 'Answer again').waitFor()
    expect(await page.evaluate('fewest')).toBe(2)

    stage.model.next({ stream: openaiToolCall('transfer', { amount: 7 }) })
    await ask(page, 'Transfer it.')
    await button(page, 'Approve').waitFor()
    await ask(page, 'Never mind.')
    await button(page, 'Deny that call and send this').waitFor()
    const second = heldStream(['Three'], [' and four.'])
    stage.model.next(second.reply)
    const turn = await answerLate(page, /\/turn$/)
    let followed = 0
    page.on('request', request => {
      if (/\/turns\/[^/]+\/events/.test(request.url())) followed += 1
    })
    await button(page, 'Deny that call and send this').click()
    await turn.read
    second.open()
    await page.locator('.answer').getByText('Three and four.').waitFor()
    await button(page, 'Answer again').waitFor()
    const arrived = page.waitForResponse(/\/turn$/)
    turn.arrive()
    await arrived
    await drawn(page)
    expect(followed).toBe(1)
  })

  it('names the passages that it rests on, and links nowhere unseen', async () => {
    const chat = await stage.makeChat()
    await uploadAndProcess(stage.app, {
      name: 'kiln.md',
      content: '# Firing\n\nThe kiln is fired at 1280 degrees.',
      agentId: agentIn(chat),
    })
    const page = await browser.open(origin, { path: viewOf(chat) })
    const answer = [
      '# It is **hot**\n\n- [the shop](https://evil.example/path)\n- https://plain.example/\n\n',
      '| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nconst hot = true\n```\n',
    ]
    stage.model.next({ stream: openaiText(...answer) })
    await ask(page, 'At how many degrees is the kiln fired?')
    await page
      .getByRole('list', { name: 'Sources' })
      .getByRole('button', { name: /1 kiln/ })
      .waitFor()
    await page.getByRole('heading', { level: 3, name: 'It is hot' }).waitFor()
    expect(await page.locator('.answer li').allInnerTexts()).toEqual([
      'the shop (https://evil.example/path)',
      'https://plain.example/',
    ])
    await expectAccessible(page, () => page.getByRole('figure', { name: 'Table' }).waitFor())
  })

  it('is drawn at most 25 times a second, and only at its end', async () => {
    const chat = await stage.makeChat()
    const page = await browser.open(origin, { path: viewOf(chat) })
    const pieces = Array.from({ length: 3000 }, (_, at) => (at % 30 === 29 ? '.\n\n' : ` word${at}`))
    const held = heldStream(pieces.slice(0, 1500), pieces.slice(1500))
    stage.model.next(held.reply)
    await page.evaluate(`
      window.drawn = { count: 0, removed: 0, from: performance.now() }
      new MutationObserver(changes => {
        const inAnswer = changes.filter(({ target }) => target.parentElement?.closest('.answer, article'))
        if (inAnswer.length > 0) drawn.count += 1
        drawn.took = performance.now() - drawn.from
      }).observe(document.body, { childList: true, characterData: true, subtree: true })`)
    await ask(page, 'Tell me a lot.')
    await page.getByText('word1498').first().waitFor()
    held.open()
    await page.getByText('word2998').first().waitFor()
    const { count, took } = (await page.evaluate('drawn')) as { count: number; took: number }
    expect(count).toBeGreaterThan(1)
    // Beside the drawings: the question, the start, the end, and the stored answer in their place.
    expect(count).toBeLessThanOrEqual(took / 40 + 10)
  })

  it('that failed says why, with the way to the model', async () => {
    const chat = await stage.makeChat({ llm_provider: 'anthropic' })
    const page = await browser.open(origin, { path: viewOf(chat), expected: /400/ })
    await ask(page, 'Hello?')
    await page.locator('.failure').getByText('The provider "anthropic" has no credentials').waitFor()
    await page.getByRole('link', { name: 'Set the model and its key' }).waitFor()
    expect(await box(page).inputValue()).toBe('Hello?')
    await expectAccessible(page, () => page.getByText('This was not answered', { exact: true }).waitFor())
  })
})

describe('what others wrote', () => {
  const hostile = [
    '<img src=x onerror="alert(1)">',
    '<script>alert(1)</script></script>',
    '<svg/onload=alert(1)><iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '[click](javascript:alert(1)) [data](data:text/html,x) ![image](https://evil.example/pixel.png)',
    '<a href="javascript:alert(1)">x</a> <style>@import url(https://evil.example/a.css)</style>',
    '\u202Egnp.exe\u202C \u200B\uFEFF ﷽ Z̮̞̠͙͔ͅḀ̗̞͈̻̗Ḷ͙͎̯̹̞͓G̻O̭̗̮ 👩‍👩‍👧‍👦 𝕿𝖍𝖊',
    '[ref]: javascript:alert(1)\n[ref]',
    'between\u2028data: {}\u2029id: 99\u0085 lines',
    `${'x'.repeat(10_000)}`,
    '&lt;script&gt;alert(1)&lt;/script&gt; {{constructor}} %0d%0a',
  ]

  it('runs nothing, fetches nothing and is shown as it is', async () => {
    const chat = await stage.makeChat()
    const page = await browser.open(origin, { path: viewOf(chat) })
    stage.model.next({ stream: openaiText(...hostile.map(text => `${text}\n\n`)) })
    await ask(page, hostile[0] ?? '')
    const answer = page.locator('.answer')
    await answer.getByText('<script>alert(1)</script></script>').waitFor()
    await button(page, 'Answer again').waitFor()
    expect(await answer.locator('img, script, iframe, svg:not(.icon), style').count()).toBe(0)
    expect(
      await answer.locator('a').evaluateAll(links => links.map(link => link.getAttribute('href'))),
    ).toEqual(['https://evil.example/pixel.png', 'https://evil.example/a.css'])
    await page.getByText('Image “image” at evil.example').waitFor()
    await page.getByRole('link', { name: hostile[0] as string }).waitFor()
    await expectAccessible(page, () => answer.getByText('[click](javascript:alert(1))').waitFor())
  })
})

describe('without a model', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await buildApp({ environment: { DEV_USER: 'ada@example.com' } })
  })
  afterAll(() => app.close())

  it('the view says so, and the retriever quotes documents', async () => {
    const id = await makeAgent(app)
    const address = await app.listen()
    await uploadAndProcess(app, {
      name: 'kiln.md',
      content: 'The kiln is fired at 1280 degrees.',
      agentId: id,
    })
    const page = await browser.open(address, { path: `/a/${id}/chat` })
    await page.getByText('No language model is set.').waitFor()
    await expectAccessible(page, () => page.getByText('No language model is set.').waitFor())
    await ask(page, 'At how many degrees is the kiln fired?')
    await page.getByText('built-in retriever', { exact: true }).waitFor()
    await page.locator('.answer').getByText('fired at 1280 degrees').waitFor()
    await eventually(async () => expect(await page.getByRole('article').count()).toBe(2))
  })
})

it('roles see and do what they may', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  const app = await buildApp({ environment: gateway.environment })
  onTestFinished(() => app.close())
  const address = await app.listen()
  const [owner, viewer, chatter] = await Promise.all(
    ['ada', 'vera', 'chas'].map(name => gateway.headers(`${name}@example.com`)),
  )
  const id = await makeAgent(app, { headers: owner ?? {} })
  const chat = `/api/agents/${id}/chat`
  for (const [role, email] of [
    ['viewer', 'vera'],
    ['chat', 'chas'],
  ] as const)
    await giveRole(app, id, { email: `${email}@example.com`, role, headers: owner ?? {} })
  for (const [headers, content] of [
    [owner, 'Hello from Ada'],
    [chatter, 'Hello from Chas'],
  ] as const)
    await app.call('POST', chat, { body: { content }, headers: headers ?? {} })

  const reading = await browser.open(address, { path: `/a/${id}/chat`, headers: viewer ?? {} })
  await reading.getByText('You may read here.').waitFor()
  const rows = reading.getByRole('navigation', { name: 'Conversations' }).getByRole('link')
  await expect.poll(() => rows.allInnerTexts()).toHaveLength(2)
  expect(await rows.first().innerText()).toContain('by chas@example.com')
  await rows.first().click()
  await reading.getByRole('heading', { name: /chas@example.com/ }).waitFor()
  await reading
    .getByRole('button', { name: /^Actions for/ })
    .first()
    .click()
  const actions = (page: Page) => page.getByRole('menuitem').allInnerTexts()
  await expect.poll(() => actions(reading)).toEqual(['Export as Markdown', 'Export as JSON'])
  await reading.keyboard.press('Escape')
  for (const name of ['Answer again', 'New conversation', 'Good answer', 'Import a conversation'])
    expect(await reading.getByRole('button', { name }).count()).toBe(0)
  expect(await box(reading).count()).toBe(0)

  const talking = await browser.open(address, { path: `/a/${id}/chat`, headers: chatter ?? {} })
  const own = talking.getByRole('navigation', { name: 'Conversations' }).getByRole('link')
  await talking.getByRole('link', { name: /Hello from Chas/ }).click()
  await button(talking, 'Answer again').waitFor()
  expect(await own.allInnerTexts()).toHaveLength(2)
  await button(talking, 'Good answer').waitFor()
  await talking.getByRole('button', { name: /^Actions for “Hello from Chas/ }).press('Enter')
  await expect.poll(() => actions(talking)).toEqual(['Rename', 'Export as Markdown', 'Export as JSON'])
  await talking.keyboard.press('Escape')
  await ask(talking, 'And again')
  await expect.poll(() => talking.getByRole('article').count()).toBe(4)
})

it('opens with at most three requests', async () => {
  const chat = await stage.makeChat()
  await converse(chat, 'Hello?')
  const page = await browser.open(origin)
  // The stream of changes is that of the frame.
  const reads: string[] = []
  page.on('request', request => {
    const { pathname } = new URL(request.url())
    if (/^\/api(?!.*\/events$)/.test(pathname)) reads.push(pathname)
  })
  const stream = page.waitForResponse(answer => answer.url().endsWith(`${agentIn(chat)}/events`))
  await page.goto(`${origin}/a/${agentIn(chat)}/agents`)
  await Promise.all([page.getByRole('table').waitFor(), stream])
  // Once it is open, what is shown is read again.
  const ofFrame = new Set(reads)
  reads.length = 0
  await page.getByRole('link', { name: 'Chat' }).click()
  await page.getByRole('link', { name: /Hello/ }).click()
  await button(page, 'Answer again').waitFor()
  const ofView = reads.filter(path => !ofFrame.has(path))
  expect(ofView.toSorted()).toEqual([chat, `${chat}/conversations`, `${chat}/models`])
})
