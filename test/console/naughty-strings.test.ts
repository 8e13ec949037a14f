/** Strings that have broken other programs, in the places where the console shows what others wrote, in the real browser. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLastingSession } from '#test/support/browser-stage.ts'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { openaiText } from '#test/support/model-server.ts'
import { startSite } from '#test/support/site-server.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import { workflowCalls } from '#test/support/workflows.ts'
import { type ConsoleBrowser, startConsoleBrowser } from './console-browser.ts'

const fixtures = process.env.REAL_FIXTURES ?? ''
const strings =
  fixtures === ''
    ? []
    : (JSON.parse(readFileSync(join(fixtures, 'security/blns.json'), 'utf8')) as string[])
        .map(text => text.toWellFormed())
        .filter(text => text.trim() !== '')

type Row = Record<string, unknown>
type Rows = readonly Row[]

/**
 * Changes a list that the server answers on its way to the page: so each string is a name, also those that the server would refuse
 * as one.
 */
async function changeList(page: Page, path: string, name: string, change: (rows: Rows) => Rows) {
  await page.route(
    ({ pathname }) => pathname === path,
    async route => {
      if (route.request().method() !== 'GET') return route.continue()
      const response = await route.fetch()
      const body = (await response.json()) as Record<string, Rows>
      await route.fulfill({ response, json: { ...body, [name]: change(body[name] ?? []) } })
    },
  )
}

/** A row for each string beside the first of the list. */
const rowsLike =
  (of: (text: string, row: Row | undefined) => Row) =>
  (rows: Rows): Rows => [
    ...rows,
    ...strings.map((text, at) => ({ ...rows[0], id: `one-${at}`, ...of(text, rows[0]) })),
  ]

/** What ran, or was fetched, has failed the test by now or does so at its end; here: nothing stands there that could. */
async function expectInert(page: Page): Promise<void> {
  const able = `
    [...document.body.querySelectorAll('*')].filter(element =>
      element.matches('main :is(script, iframe, frame, object, embed, style, link, meta, base, img, video, audio, form[action])') ||
      [...element.attributes].some(({ name }) => name.startsWith('on')) ||
      (element.matches('a, area') && !/^(https?|mailto):$/.test(new URL(element.href, location).protocol)))
      .map(element => element.outerHTML.slice(0, 300))`
  expect(await page.evaluate(able)).toEqual([])
}

/** Of names at least so many characters are shown. */
const shownLength = 80

async function expectShown(page: Page): Promise<void> {
  const shown = (await page.locator('body').textContent()) ?? ''
  expect(strings.filter(text => !shown.includes(text.slice(0, shownLength)))).toEqual([])
}

describe.skipIf(fixtures === '')('run nothing and fetch nothing (needs REAL_FIXTURES)', () => {
  let browser: ConsoleBrowser
  let stage: ChatStage
  let origin: string
  let chat: string
  let api: string
  let home: string
  let conversation: string

  beforeAll(async () => {
    browser = await startConsoleBrowser()
    stage = await setChatStage({ environment: { OUTBOUND_ALLOW: '127.0.0.1' } })
    origin = await stage.app.listen()
    chat = await stage.makeChat()
    api = chat.replace(/\/chat$/, '')
    home = api.replace('/api/agents', '/a')
    const { body } = await stage.send(chat, { content: 'Hello?' })
    conversation = body.assistantMessage.conversationId
    const agentId = api.split('/').at(-1) ?? ''
    await uploadAndProcess(stage.app, { name: 'kiln.md', content: 'The kiln is hot.', agentId })
    const tool = { name: 'echo', type: 'javascript', configuration: { code: 'return 1' } }
    await stage.app.call('POST', `${api}/tools`, { body: tool })
    await workflowCalls(stage.app, api).create({ start: { type: 'trigger' } }, [], { name: 'Echo' })
  })

  afterAll(async () => {
    await browser.close()
    await stage[Symbol.asyncDispose]()
  })

  it('as questions, answers, calls of tools, their results, files, sources and titles', async () => {
    const page = await browser.open(origin, { path: `${home}/home` })
    await changeList(
      page,
      `${chat}/conversations`,
      'conversations',
      rowsLike(title => ({ title })),
    )
    await changeList(page, chat, 'messages', rows => [
      ...rows,
      ...strings.flatMap((text, at) => [
        {
          ...rows[0],
          id: `question-${at}`,
          content: text,
          metadata: { attachments: [{ id: 'f', name: text, mime_type: text, size: 1, kind: 'document' }] },
        },
        {
          ...rows.at(-1),
          id: `answer-${at}`,
          content: text,
          toolCalls: [{ id: 'call', name: text, arguments: { [text]: text } }],
          toolResults: [{ toolCallId: 'call', name: text, result: text }],
          metadata: {
            model: text,
            reasoning: text,
            error: text,
            pages: [{ url: text, title: text, time: new Date(0).toISOString() }],
            passages: [{ id: 'p', source_id: 's', source_name: text, page: null, section: text, url: text }],
          },
        },
      ]),
    ])
    await page.goto(`${origin}${home}/chat?conversation=${conversation}`)
    await expect.poll(() => page.getByRole('article').count()).toBe(2 * strings.length + 2)
    await expectShown(page)
    await expectInert(page)
  })

  it('as an answer that is streamed', async () => {
    const page = await browser.open(origin, { path: `${home}/chat` })
    stage.model.next({ stream: openaiText(...strings.map(text => `${text}\n\n`), 'The end.') })
    await page.getByRole('textbox', { name: 'Message' }).fill('Say all.')
    await page.keyboard.press('Enter')
    await page.getByText('The end.').first().waitFor()
    await page.getByRole('button', { name: 'Answer again' }).waitFor()
    await expectInert(page)
  })

  it('as names and descriptions of agents, the one that is shown among them', async () => {
    const page = await browser.open(origin, { path: `${home}/home` })
    const named = rowsLike(text => ({ name: text, description: text, owner_email: text }))
    for (const path of ['/api/agents', '/api/auth/agents'])
      await changeList(page, path, 'agents', rows =>
        named(rows.map(row => ({ ...row, name: strings.join(' ') }))),
      )
    await page.goto(`${origin}${home}/agents`)
    await page.getByRole('table').waitFor()
    await expectShown(page)
    await expectInert(page)
  })

  it.each([
    [
      'knowledge',
      'sources',
      'sources',
      (text: string, row?: Row) => ({
        name: text,
        status: 'error',
        error: text,
        config: { ...(row?.config as Row), file_name: text },
      }),
    ],
    ['tools', 'tools', 'data', (text: string) => ({ name: text, description: text, cluster: text })],
    ['workflows', 'workflows', 'workflows', (text: string) => ({ name: text, description: text })],
  ])('as names in the list of %s', async (view, path, name, of) => {
    const page = await browser.open(origin, { path: `${home}/home` })
    await changeList(page, `${api}/${path}`, name, rowsLike(of))
    await page.goto(`${origin}${home}/${view}`)
    await expect.poll(() => page.getByRole('row').count()).toBeGreaterThan(strings.length)
    await expectShown(page)
    await expectInert(page)
  })

  it('as titles of pages in a browser that is watched', async () => {
    const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    const titles = Map.groupBy(strings, (_, at) => Math.floor(at / 12))
    await using site = await startSite(({ path }) => {
      const at = Number(path.slice(1))
      return `<title>Page ${at} ${escaped(titles.get(at)?.join(' ') ?? '')}</title><h1>Shop</h1>`
    })
    const agentId = api.split('/').at(-1) ?? ''
    const session = await openLastingSession(stage.app, { agentId })
    const page = await browser.open(origin, { path: `${home}/browser/${encodeURIComponent(session.id)}` })
    const live = page.frameLocator('iframe')
    for (const at of titles.keys()) {
      const body = { action: 'navigate', url: `${site.url}/${at}` }
      await stage.app.call('POST', `${session.path}/execute`, { body })
      await live.locator(`[aria-label^="Picture of Page ${at} "]`).waitFor()
    }
    expect(await live.locator('script:not([src]), img:not([src^="/"], [src^="blob:"]), object').count()).toBe(
      0,
    )
  })
})
