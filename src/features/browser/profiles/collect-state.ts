import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserContext, Frame, Page } from 'playwright-core'
import type { BrowserSession } from '../sessions/browser-session.ts'
import { type OriginStorage, readStorage } from './collect-storage.ts'
import { databaseKey, type Entries, type Entry, itemKey, nameOf, withCookies } from './profile-entries.ts'

const mostOrigins = 500
/** Limits in milliseconds: in all, for one origin, and for its databases. */
const limits = { all: 8000, origin: 6000, databases: 4000 }

/** Lists the origins of documents that the context's pages open from now on, tabs before frames. */
export function watchOrigins(context: BrowserContext): () => string[] {
  const [ofTabs, ofFrames] = [new Set<string>(), new Set<string>()]
  const add = (frame: Frame) => {
    const { protocol = '', origin = '' } = URL.parse(frame.url()) ?? {}
    const origins = frame.parentFrame() === null ? ofTabs : ofFrames
    if (/^https?:$/.test(protocol) && origins.size < mostOrigins) origins.add(origin)
  }
  const watch = (page: Page) => {
    page.frames().forEach(add)
    page.on('framenavigated', add)
  }
  context.pages().forEach(watch)
  context.on('page', watch)
  return () => [...ofTabs.union(ofFrames)]
}

/**
 * Returns the cookies of a session, and the stored data of these origins.
 * @param base provides the data of other origins, and of those that could not be read.
 */
export async function collectState(
  session: BrowserSession,
  { origins, base, maxBytes }: { origins: readonly string[]; base: Entries; maxBytes: number },
): Promise<Entries> {
  const entries = withCookies(base, await session.context.cookies())
  if (origins.length === 0) return entries
  const end = performance.now() + limits.all
  const page = await session.hidden.open()
  try {
    await prepare(session, page)
    for (const origin of origins) {
      const left = Math.max(0, end - performance.now())
      const reading = left > 0 ? readOrigin(page, origin, maxBytes).catch(() => undefined) : undefined
      const late = delay(Math.min(left, limits.origin), undefined, { ref: false })
      const found = await Promise.race([reading, late])
      if (found === undefined) noteUnread(entries, origin)
      else replaceOrigin(entries, origin, found)
    }
  } finally {
    page.close().catch(() => {})
  }
  return entries
}

/** Every address returns an empty document, in which no script of a site runs. */
async function prepare(session: BrowserSession, page: Page): Promise<void> {
  const cdp = await session.context.newCDPSession(page)
  await cdp.send('Network.enable')
  await cdp.send('Network.setBypassServiceWorker', { bypass: true })
  await page.route('**/*', route => route.fulfill({ contentType: 'text/html', body: '' }).catch(() => {}))
}

async function readOrigin(page: Page, origin: string, maxBytes: number): Promise<OriginStorage> {
  await page.goto(`${origin}/`, { timeout: limits.all })
  return await readStorage(page, { maxBytes, withinMs: limits.databases })
}

/** Notes an unread origin, under a key that its next reading replaces. */
function noteUnread(entries: Map<string, Entry>, origin: string): void {
  const key = itemKey(origin, '')
  const leftOut = `changes of ${origin} (could not be read in time)`
  entries.set(key, { value: entries.get(key)?.value ?? '', leftOut })
}

function replaceOrigin(entries: Map<string, Entry>, origin: string, found: OriginStorage): void {
  const { items, itemsLeftOut, databases } = found
  const before = new Map(entries)
  const clear = (prefix: string) => {
    for (const key of before.keys()) if (key.startsWith(prefix)) entries.delete(key)
  }
  if (items !== null) clear(itemKey(origin, '').slice(0, -3))
  for (const [name, value] of items ?? [])
    entries.set(itemKey(origin, name), { value: JSON.stringify(value) })
  for (const name of itemsLeftOut) {
    const key = itemKey(origin, name)
    entries.set(key, { value: '', leftOut: `${nameOf(key)} (too large)` })
  }
  if (databases !== null) clear(databaseKey(origin, '').slice(0, -3))
  for (const { name, value, leftOut } of databases ?? []) {
    const key = databaseKey(origin, name)
    const part = value ? 'values of the ' : ''
    entries.set(key, {
      value: value ?? before.get(key)?.value ?? '',
      ...(leftOut.length > 0 && { leftOut: `${part}${nameOf(key)} (${leftOut.join(', ')})` }),
    })
  }
}
