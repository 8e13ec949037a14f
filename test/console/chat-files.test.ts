/** Files of messages in the console's chat, in the real browser on the real service. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChatStage, setChatStage } from '#test/support/chat-stage.ts'
import { heic, png } from '#test/support/images.ts'
import { type ConsoleBrowser, expectAccessible, startConsoleBrowser } from './console-browser.ts'

let browser: ConsoleBrowser
let stage: ChatStage
let origin: string

beforeAll(async () => {
  browser = await startConsoleBrowser()
  stage = await setChatStage({ environment: { MAX_UPLOAD_BYTES: '100000' } })
  origin = await stage.app.listen()
})

afterAll(async () => {
  await browser.close()
  await stage[Symbol.asyncDispose]()
})

const hostileName = '<img src=x onerror=alert(1)>\u202Efdp.txt'
const image = { name: 'kiln.txt', mimeType: 'text/plain', buffer: png() }
const note = (name: string, content = 'The kiln is hot.') => ({
  name,
  mimeType: 'image/png',
  buffer: Buffer.from(content),
})

async function openChat(options: Parameters<ConsoleBrowser['open']>[1] = {}) {
  const chat = await stage.makeChat()
  const id = /agents\/([^/]+)/.exec(chat)?.[1]
  return { chat, page: await browser.open(origin, { path: `/a/${id}/chat`, ...options }) }
}
const add = (page: Page, files: Parameters<ReturnType<Page['locator']>['setInputFiles']>[0]) =>
  page.locator('.composer input[type=file]').setInputFiles(files)
const listed = (page: Page) => page.getByRole('list', { name: 'Files' }).getByRole('listitem')
const send = (page: Page) => page.getByRole('button', { name: 'Send' })

describe('files of a message', () => {
  it('are sent without words, shown as what they are, and downloaded', async () => {
    const { chat, page } = await openChat()
    await add(page, [image, note(hostileName)])
    await page.getByText(hostileName, { exact: true }).waitFor()
    await expectAccessible(page, () =>
      page.getByRole('button', { name: 'Show “kiln.txt” in full' }).waitFor(),
    )
    await page.setViewportSize({ width: 1440, height: 900 })
    await send(page).click()
    await page.locator('.answer').getByText('Hello from the model.').waitFor()
    await page.getByRole('button', { name: 'Answer again' }).waitFor()
    expect(await listed(page).count()).toBe(2)
    const [asked] = await stage.messages(chat)
    expect(asked?.content).toBe('')
    expect(asked?.metadata?.attachments?.map(({ kind }) => kind)).toEqual(['image', 'document'])

    await page.reload()
    const picture = page.getByRole('button', { name: 'Show “kiln.txt” in full' })
    await picture.locator('img').waitFor()
    await page.waitForFunction("document.querySelector('.picture img').naturalWidth > 0")
    await expectAccessible(page, () => picture.locator('img').waitFor())
    await picture.press('Enter')
    await page.getByRole('dialog').getByRole('img', { name: 'kiln.txt' }).waitFor()
    await page.keyboard.press('Escape')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: /onerror/ }).click(),
    ])
    expect(readFileSync(await file.path(), 'utf8')).toBe('The kiln is hot.')
  })

  it('that are not taken say why, each for itself, and the others are sent', async () => {
    const { chat, page } = await openChat({ expected: /413|415/ })
    await add(page, [
      { name: 'photo.jpg', mimeType: 'image/jpeg', buffer: heic() },
      note('large.txt', 'a'.repeat(100_001)),
    ])
    await page.getByRole('alert').getByText('save it as JPEG, PNG, GIF or WebP').waitFor()
    await page
      .getByRole('alert')
      .getByText(/100,?000/)
      .waitFor()
    await page.getByRole('textbox', { name: 'Message' }).fill('Look.')
    await add(
      page,
      Array.from({ length: 11 }, (_, at) => note(`${at}.txt`)),
    )
    await page.getByText('A message has at most 10 files.').waitFor()
    await page.getByRole('button', { name: 'Take “0.txt” away' }).click()
    await expect.poll(() => send(page).isEnabled()).toBe(true)
    await send(page).click()
    await page.locator('.answer').getByText('Hello from the model.').waitFor()
    const [asked] = await stage.messages(chat)
    expect(asked?.metadata?.attachments?.map(({ name }) => name)).toEqual([
      ...Array.from({ length: 9 }, (_, at) => `${at + 1}.txt`),
    ])
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('are dropped and pasted, and come back with a message that was not taken', async () => {
    const { page } = await openChat({ expected: /400|404/ })
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    await give(page, 'drop', 'dropped.txt')
    await give(page, 'paste', 'pasted.txt')
    await expect.poll(() => listed(page).allInnerTexts()).toHaveLength(2)
    await expect.poll(() => send(page).isEnabled()).toBe(true)
    await page.route('**/chat', route => route.fulfill({ status: 400, json: { error: 'Not now.' } }), {
      times: 1,
    })
    await page.getByRole('textbox', { name: 'Message' }).fill('Look.')
    await page.keyboard.press('Enter')
    await page.locator('.failure').getByText('Not now.').waitFor()
    expect(await listed(page).allInnerTexts()).toEqual([
      expect.stringContaining('dropped.txt'),
      expect.stringContaining('pasted.txt'),
    ])
    await page.keyboard.press('Enter')
    await page.locator('.answer').getByText('Hello from the model.').waitFor()
  })
})

/** A file that a person drops on the conversation, or pastes into the message. */
async function give(page: Page, way: 'drop' | 'paste', name: string): Promise<void> {
  await page.evaluate(`{
    const data = new DataTransfer()
    data.items.add(new File(['The kiln is hot.'], ${JSON.stringify(name)}))
    const options = { bubbles: true, cancelable: true }
    const event = ${JSON.stringify(way)} === 'drop'
      ? new DragEvent('drop', { ...options, dataTransfer: data })
      : new ClipboardEvent('paste', { ...options, clipboardData: data })
    document.querySelector(${JSON.stringify(way === 'drop' ? '.talk' : '.composer textarea')}).dispatchEvent(event)
  }`)
}
