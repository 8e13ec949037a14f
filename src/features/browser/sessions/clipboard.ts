import type { Browser, BrowserContext, Page } from 'playwright-core'
import { read } from '../in-page/read.ts'

/** What a session is to the clipboard. */
interface ClipboardUser {
  context: BrowserContext
  events: { once(name: 'ended', listener: () => void): unknown }
  /** What it has copied last by keys. */
  copied: string
  endWith(sentence: string): Promise<void>
}

/** Characters that a session can copy by keys, and milliseconds in which a page that does not hang tells what is selected. */
const maxCopied = 100_000
const answersWithinMs = 2000

/** The clipboard of a browser, which all of its sessions share. */
interface Clipboard {
  open: Set<ClipboardUser>
  /** Whether one that has ended may have written to it. */
  isLeftOver: boolean
}
const clipboards = new WeakMap<Browser, Clipboard>()

export type ClipboardUse = 'copy' | 'paste'

/** Which use is made of the clipboard by a key that is pressed with any other; its name may be that of its place, such as KeyV. */
export function clipboardUseOf(key: string): ClipboardUse | undefined {
  if (/^(?:(?:key)?v|insert|numpad0)$/i.test(key)) return 'paste'
  return /^(?:key)?[cx]$/i.test(key) ? 'copy' : undefined
}

/** To be called for each session that opens. */
export function shareClipboard(browser: Browser, session: ClipboardUser): void {
  const clipboard = clipboards.get(browser) ?? { open: new Set(), isLeftOver: false }
  clipboards.set(browser, clipboard)
  clipboard.open.add(session)
  session.events.once('ended', () => {
    clipboard.open.delete(session)
    clipboard.isLeftOver = true
  })
}

/** To be called before such a key is pressed. Ends the session where it could paste what another has copied. */
export async function prepareClipboard(session: ClipboardUser, page: Page, use: ClipboardUse): Promise<void> {
  if (use === 'copy') {
    const selected = await read(page, 'selection', maxCopied, answersWithinMs).catch(() => '')
    session.copied = selected || session.copied
    return
  }
  await giveBack(session).catch(async () => await session.endWith('Its clipboard could not be kept apart.'))
}

/** Puts back what the session itself has copied, where another may have written since. */
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
