/** What people do with conversations and answers: name, rate, find, export and import them. In the real browser. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
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

const hostile = '<img src=x onerror=alert(1)>\u202E title'

async function openConversation(content: string) {
  const chat = await stage.makeChat()
  const { body } = await stage.send(chat, { content })
  const id = body.assistantMessage.conversationId
  const path = `/a/${/agents\/([^/]+)/.exec(chat)?.[1]}/chat?conversation=${id}`
  return { chat, id, page: await browser.open(origin, { path }) }
}
const row = (page: Page, name: string | RegExp) =>
  page.getByRole('navigation', { name: 'Conversations' }).getByRole('link', { name })

async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: /^Actions for/ }).press('Enter')
  await page.getByRole('menuitem', { name: item }).click()
}

it('a conversation is renamed in place, and found by its messages', async () => {
  const { page } = await openConversation('How hot is the kiln?')
  await tabTo(page, 'button', /^Actions for “How hot/)
  await page.keyboard.press('Enter')
  await page.locator('[role=menuitem]:focus').waitFor()
  await page.keyboard.press('Enter')
  const field = page.getByRole('textbox', { name: /^New name of/ })
  await field.waitFor()
  await page.keyboard.type('Not this')
  await page.keyboard.press('Escape')
  await row(page, /How hot/).waitFor()
  await choose(page, 'Rename')
  await field.fill(hostile)
  await page.keyboard.press('Enter')
  await expect
    .poll(() => row(page, hostile).evaluateAll(rows => rows.some(one => one.matches(':focus'))))
    .toBe(true)
  const search = page.getByRole('searchbox', { name: 'Find a conversation' })
  await search.fill('no such words')
  await page.getByText('No conversation has these words in its title or messages.').waitFor()
  await search.fill('the KILN')
  await row(page, hostile).waitFor()
})

it('an answer is rated, with a comment, by keyboard', async () => {
  const { chat, page } = await openConversation('How hot is the kiln?')
  const rated = async () => (await stage.messages(chat))[1]?.feedback
  await tabTo(page, 'button', 'Bad answer')
  await page.keyboard.press('Enter')
  const comment = page.getByRole('textbox', { name: 'Comment on the answer' })
  await comment.waitFor()
  await expectAccessible(page, () => comment.waitFor())
  await page.setViewportSize({ width: 1440, height: 900 })
  await expect.poll(rated).toMatchObject({ rating: -1 })
  await tabTo(page, 'textbox', 'Comment on the answer')
  await page.keyboard.type(hostile)
  await page.keyboard.press('Enter')
  await page.getByText(`: ${hostile}`).waitFor()
  expect(await rated()).toMatchObject({ rating: -1, comment: hostile })
  const good = page.getByRole('button', { name: 'Good answer' })
  await good.click()
  await expect.poll(rated).toMatchObject({ rating: 1 })
  await page.getByText('Rated as good').waitFor()
  await expect.poll(() => good.getAttribute('aria-pressed')).toBe('true')
  await good.click()
  await expect.poll(rated).toBeUndefined()
  await expect.poll(() => good.getAttribute('aria-pressed')).toBe('false')

  const older = await answerLate(page, `**${chat}?*`)
  await page.getByRole('button', { name: 'Bad answer' }).click()
  await older.read
  const answered = page.waitForResponse(/\/feedback$/)
  await good.click()
  await answered
  older.arrive()
  await drawn(page)
  expect(await good.getAttribute('aria-pressed')).toBe('true')
})

it('a conversation is exported, and imported as another', async () => {
  const { page, id } = await openConversation('How hot is the kiln?')
  const exported = async (item: string) => {
    const [file] = await Promise.all([page.waitForEvent('download'), choose(page, item)])
    return { name: file.suggestedFilename(), content: readFileSync(await file.path()) }
  }
  const markdown = await exported('Export as Markdown')
  expect(markdown.content.toString()).toContain('How hot is the kiln?')
  const json = await exported('Export as JSON')
  expect([markdown.name, json.name]).toEqual([
    expect.stringMatching(/^How hot.*\.md$/),
    expect.stringMatching(/^How hot.*\.json$/),
  ])
  const input = page.locator('nav input[type=file]')
  await input.setInputFiles({ name: 'kiln.json', mimeType: 'text/plain', buffer: Buffer.from('# no') })
  await page.getByText('kiln.json is no JSON.').waitFor()
  await input.setInputFiles({ name: json.name, mimeType: 'text/plain', buffer: json.content })
  await page.getByText('The conversation was imported.').waitFor()
  await expect.poll(() => page.url()).not.toContain(id)
  await expect.poll(() => page.getByRole('article').count()).toBe(2)
  await expect.poll(() => row(page, /How hot/).count()).toBe(2)
})
