import type { Browser, BrowserContext, Page } from 'playwright-core'
import { read } from '../in-page/read.ts'

/** The parts of a session that the clipboard uses. */
interface ClipboardUser {
  context: BrowserContext
  events: { once(name: 'ended', listener: () => void): unknown }
  /** The text that it has copied last by keys. */
  copied: string
  endWith(sentence: string): Promise<void>
}

/** Max characters that a session can copy by keys, and max wait for the selected text (ms). */
const maxCopied = 100_000
const answersWithinMs = 2000

/** The clipboard of a browser, which all of its sessions share. */
interface Clipboard {
  open: Set<ClipboardUser>
  /** True if an ended session might have written to it. */
  isLeftOver: boolean
}
const clipboards = new WeakMap<Browser, Clipboard>()

export type ClipboardUse = 'copy' | 'paste'

/** Returns the clipboard use of a key in a combination; the key can be named by its place, such as KeyV. */
export function clipboardUseOf(key: string): ClipboardUse | undefined {
  if (/^(?:(?:key)?v|insert|numpad0)$/i.test(key)) return 'paste'
  return /^(?:key)?[cx]$/i.test(key) ? 'copy' : undefined
}

/** Must be called for each session that opens. */
export function shareClipboard(browser: Browser, session: ClipboardUser): void {
  const clipboard = clipboards.get(browser) ?? { open: new Set(), isLeftOver: false }
  clipboards.set(browser, clipboard)
  clipboard.open.add(session)
  session.events.once('ended', () => {
    clipboard.open.delete(session)
    clipboard.isLeftOver = true
  })
}

/** Must be called before such a key is pressed. Ends a session that could paste another's text. */
export async function prepareClipboard(session: ClipboardUser, page: Page, use: ClipboardUse): Promise<void> {
  if (use === 'copy') {
    const selected = await read(page, 'selection', maxCopied, answersWithinMs).catch(() => '')
    session.copied = selected || session.copied
    return
  }
  await giveBack(session).catch(async () => await session.endWith('Its clipboard could not be kept apart.'))
}

/** Restores the session's own copied text if another session might have written since. */
async function giveBack(session: ClipboardUser): Promise<void> {
  const browser = session.context.browser()
  const clipboard = browser && clipboards.get(browser)
  if (!clipboard || (clipboard.open.size === 1 && !clipboard.isLeftOver)) return
  clipboard.isLeftOver = false
  const context = await browser.newContext()
  try {
    await write(await context.newPage(), session.copied)
  } finally {
    await context.close().catch(() => {})
  }
}

interface CopyEvent {
  clipboardData: { setData(type: string, text: string): void }
  preventDefault(): void
}
declare const document: {
  addEventListener(name: 'copy', listener: (event: CopyEvent) => void): void
  execCommand(name: 'copy'): boolean
}

async function write(page: Page, text: string): Promise<void> {
  const isWritten = await page.evaluate(copied => {
    document.addEventListener('copy', event => {
      event.clipboardData.setData('text/plain', copied)
      event.preventDefault()
    })
    return document.execCommand('copy')
  }, text)
  if (!isWritten) throw new Error('The clipboard could not be written to.')
}
