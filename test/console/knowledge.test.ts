/** The views of what an agent answers from, in the real browser on the real service. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { makePdf, makeVerticalPdf } from '#test/support/documents.ts'
import { page as pageOf, startSite } from '#test/support/site-server.ts'
import { uploadAndProcess } from '#test/support/upload.ts'
import { type ConsoleBrowser, expectAccessible, startConsoleBrowser, tabTo } from './console-browser.ts'

let browser: ConsoleBrowser
let app: TestApp
let origin: string
let agentId: string
let pdf: string

const hostile = [
  '<img src=x onerror=alert(1)>',
  '</script><script>alert(1)</script>',
  '[a](javascript:alert(1))',
  '‮gnp.exe‬',
].join(' ')

const kiln = 'The kiln is fired at 1280 degrees for nine hours, and cools for two days.'
const glaze = 'The glaze is made of wood ash, feldspar and a little clay from the river.'
const filler = (about: string) =>
  Array.from(
    { length: 12 },
    (_, at) => `Sentence ${at} of the ${about} says nothing that matters here.`,
  ).join('\n')

beforeAll(async () => {
  browser = await startConsoleBrowser()
  app = await buildApp({
    environment: { DEV_USER: 'ada@example.com', OUTBOUND_ALLOW: '127.0.0.1', MAX_UPLOAD_BYTES: '200000' },
  })
  origin = await app.listen()
  agentId = await makeAgent(app)
  const pages = [
    `${filler('preface')}`,
    `${filler('kiln')}\n\n${kiln}\n\n${filler('ash')}`,
    `${glaze}\n${hostile.slice(0, 60)}`,
  ]
  pdf = await uploadAndProcess(app, { name: 'manual.pdf', content: makePdf(pages), agentId })
  await uploadAndProcess(app, {
    name: `${hostile}.md`,
    content: `# ${hostile}\n\n${hostile} stoneware\n\n${'x'.repeat(10_000)}`,
    agentId,
  })
})

afterAll(async () => {
  await browser.close()
  await app.close()
})

const open = (path = '', options = {}) =>
  browser.open(origin, { path: `/a/${agentId}/knowledge${path}`, ...options })
const file = (name: string, content: string) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(content),
})

const panel = (page: Page) => page.locator('section.panel')
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const openPassage = (page: Page) => page.getByRole('button', { name: 'Open in the document' }).first().click()
/** The texts of the marks on the page that is shown, by their places. */
const marks = (page: Page) => panel(page).locator('svg polygon')

describe('each view is accessible, in both themes, wide, on a phone and at 320 pixels', () => {
  it('sources', async () => {
    const page = await open()
    await expectAccessible(page, () => row(page, 'manual').waitFor())
  })

  it('a source, with a passage in its document', async () => {
    const page = await open(`/${pdf}`)
    await page.getByRole('button', { name: 'Open passage 2 in the document' }).click()
    await expectAccessible(page, () => page.getByText('100% of the passage found').waitFor())
  })

  it('the question tester', async () => {
    const page = await open('/test?q=stoneware')
    await expectAccessible(page, () => page.getByText('1 passage', { exact: true }).waitFor())
  })
})

it('a question is tried by keyboard alone, and its passage is marked on the page of the PDF', async () => {
  const page = await open()
  await tabTo(page, 'link', 'Try a question')
  await page.keyboard.press('Enter')
  await tabTo(page, 'textbox', 'Question')
  await page.keyboard.type('What is the glaze made of?')
  await page.keyboard.press('Enter')
  await tabTo(page, 'button', 'Open in the document')
  await page.keyboard.press('Enter')
  await panel(page).getByText('100% of the passage found').waitFor()
  await panel(page).getByText('Page 3 of 3').waitFor()
  expect(await marks(page).count()).toBeGreaterThan(0)
  await tabTo(page, 'button', 'Previous page')
  await page.keyboard.press('Enter')
  await panel(page).getByText('Page 2 of 3').waitFor()
  await panel(page).getByRole('img', { name: 'manual.pdf, page 2' }).waitFor()
  expect(await marks(page).count()).toBe(0)
  await page.keyboard.press('Escape')
  await panel(page).waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Open in the document')
})

it('many files are uploaded at once; each that fails says why, and what was deleted comes back', async () => {
  const page = await open('', { expected: /4(00|13|15) / })
  const input = page.getByLabel('Upload documents').locator('input')
  await input.setInputFiles([
    file('ash.md', '# Ash\n\nAsh is sieved twice.'),
    file('clay.txt', 'Clay is dug in autumn.'),
    file('song.mp3', 'la la'),
    file('empty.txt', ''),
    file('large.txt', 'x'.repeat(300_000)),
  ])
  const uploads = page.getByRole('list', { name: 'Uploads' })
  await expect.poll(() => uploads.getByRole('alert').allTextContents()).toHaveLength(3)
  const reasons = await uploads.getByRole('alert').allTextContents()
  expect(reasons.every(reason => /\w+ \w+/.test(reason))).toBe(true)
  for (const name of ['song.mp3', 'empty.txt', 'large.txt'])
    await page.getByRole('button', { name: `Forget ${name}` }).click()
  await uploads.waitFor({ state: 'detached' })
  for (const name of ['ash', 'clay']) await row(page, name).getByText('ready').waitFor()
  await row(page, 'clay').getByRole('button', { name: 'Actions for clay' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await row(page, 'clay').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await row(page, 'clay').waitFor()
})

it('a website is crawled, and its failed pages are named', async () => {
  await using site = await startSite(({ path }) => {
    if (path === '/') return pageOf('Harbour', ['/fish', '/broken'])
    if (path === '/fish') return pageOf('Fish', [], 'Herring is sold on Fridays.')
    return path === '/broken' ? { status: 500 } : undefined
  })
  const page = await open('', { expected: /400 / })
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Website' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Start page', { exact: true }).fill('http://10.1.2.3/')
  await dialog.getByLabel('Name', { exact: true }).fill('Harbour')
  await dialog.getByRole('button', { name: 'Crawl', exact: true }).click()
  await dialog.locator('.error').waitFor()
  await dialog.getByLabel('Start page', { exact: true }).fill(`${site.url}/`)
  await dialog.getByRole('button', { name: 'Crawl', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await row(page, 'Harbour').getByText('1 page could not be read').waitFor()
  await page.getByRole('link', { name: 'Harbour' }).click()
  await page.getByText('Pages that could not be read').click()
  await page.getByText(`${site.url}/broken`, { exact: true }).waitFor()
  await page.getByLabel('Page', { exact: true }).selectOption(`${site.url}/fish`)
  await page.getByText('Herring is sold on Fridays.', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Open passage 1 in the document' }).click()
  await panel(page).locator('mark').getByText('Herring is sold', { exact: false }).waitFor()
})

it('a PDF whose letters need a map that it does not hold is drawn and marked', async () => {
  const lines = [
    { text: '窯は千二百八十度で', x: 500, y: 800 },
    { text: '九時間焼かれます。', x: 480, y: 800 },
  ]
  const id = await uploadAndProcess(app, { name: 'kama.pdf', content: makeVerticalPdf(lines), agentId })
  const page = await open(`/${id}`)
  await page.getByRole('button', { name: 'Open passage 1 in the document' }).click()
  await page.getByText('100% of the passage found').waitFor()
  expect(await marks(page).count()).toBe(2)
})

describe('a passage that is not certainly there is not marked, and this is said', () => {
  it('on a page of a PDF that draws something else', async () => {
    const value = `Glazes of last year were ${'celadon and temmoku and shino '.repeat(8)}`
    const field = `/FT /Tx /T (Notes) /V (${value})`
    const id = await uploadAndProcess(app, {
      name: 'form.pdf',
      content: makePdf(['Form'], { fields: [field] }),
      agentId,
    })
    const page = await open(`/${id}`)
    await page.getByRole('button', { name: 'Open passage 1 in the document' }).click()
    await page.getByText('The passage could not be found on this page, so nothing is marked.').waitFor()
    expect(await marks(page).count()).toBe(0)
  })

  it('in a document that was read again since', async () => {
    const id = await uploadAndProcess(app, { name: 'tides.md', content: 'Tides turn at noon.', agentId })
    const page = await open(`/${id}`)
    await page.route('**/text?*', async route => {
      const response = await route.fetch()
      const body = (await response.json()) as { passages: { id: string }[] }
      const isPart = new URL(route.request().url()).searchParams.has('end')
      if (isPart) body.passages = []
      await route.fulfill({ response, json: body })
    })
    await page.getByRole('button', { name: 'Open passage 1 in the document' }).click()
    await page.getByText('The document was read again since', { exact: false }).waitFor()
    expect(await panel(page).locator('mark').count()).toBe(0)
  })
})

it('names and texts of others run nothing and are shown as they are', async () => {
  const page = await open('/test?q=stoneware')
  await page.getByRole('heading', { name: hostile, exact: false }).waitFor()
  await openPassage(page)
  await panel(page).locator('mark').getByText('<img src=x onerror=alert(1)>', { exact: false }).waitFor()
  await page.goto(`${origin}/a/${agentId}/knowledge`)
  await page.getByText(hostile, { exact: false }).waitFor()
})

it('a viewer sees everything and can change nothing', async () => {
  const page = await browser.open(origin, { path: '/a/default/home' })
  await page.route('**/api/auth/agents*', async route => {
    const response = await route.fetch()
    const body = (await response.json()) as { agents: object[] }
    const agents = body.agents.map(entry => ({ ...entry, role: 'viewer', power: 'viewer' }))
    await route.fulfill({ response, json: { ...body, agents } })
  })
  await page.goto(`${origin}/a/${agentId}/knowledge`)
  await row(page, 'manual').getByRole('button', { name: 'Actions for manual.pdf' }).click()
  expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Download'])
  expect(await page.getByRole('button', { name: 'Add', exact: true }).count()).toBe(0)
  expect(await page.getByLabel('Upload documents').count()).toBe(0)
})
