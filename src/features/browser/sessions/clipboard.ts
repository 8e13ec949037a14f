import type { Browser, BrowserContext, Page } from 'playwright-core'
import { read } from '../in-page/read.ts'
import type { SessionStatus } from './session-status.ts'
import { isOpen } from './session-status.ts'

/** What a session is to the clipboard. */
interface ClipboardUser {
  context: BrowserContext
  status: SessionStatus
  /** What it has copied last by keys. */
  copied: string
  endWith(sentence: string): Promise<void>
}

/** Characters that a session can copy by keys, and milliseconds in which a page that does not hang tells what is selected. */
const maxCopied = 100_000
const answersWithinMs = 2000

/** Sessions that may have written to the clipboard of a browser, which all of them share. */
const writers = new WeakMap<Browser, Set<ClipboardUser>>()

export type ClipboardUse = 'copy' | 'paste'

/** Which use is made of the clipboard by a key that is pressed with any other; its name may be that of its place, such as KeyV. */
export function clipboardUseOf(key: string): ClipboardUse | undefined {
  if (/^(?:(?:key)?v|insert|numpad0)$/i.test(key)) return 'paste'
  return /^(?:key)?[cx]$/i.test(key) ? 'copy' : undefined
}

/** To be called for each session that opens. */
export function shareClipboard(browser: Browser, session: ClipboardUser): void {
  const sessions = writers.get(browser) ?? new Set()
  writers.set(browser, sessions.add(session))
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
  const sessions = browser && writers.get(browser)
  if (!sessions || sessions.size === 1) return
  const context = await browser.newContext()
  try {
    await write(await context.newPage(), session.copied)
  } finally {
    await context.close().catch(() => {})
  }
  for (const other of sessions) if (!isOpen(other.status)) sessions.delete(other)
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
