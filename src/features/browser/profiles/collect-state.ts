import { setTimeout as delay } from 'node:timers/promises'
import type { BrowserContext, Frame, Page } from 'playwright-core'
import type { BrowserSession } from '../sessions/browser-session.ts'
import type { OriginStorage } from './collect-storage.ts'
import { readStorage } from './collect-storage.ts'
import type { Entries, Entry } from './profile-entries.ts'
import { databaseKey, itemKey, nameOf, withCookies } from './profile-entries.ts'

const mostOrigins = 500
/** Milliseconds in all, and for the databases of one origin. */
const limits = { all: 2500, databases: 1000 }

/** The origins of documents that the pages of the context open from now on. */
export function watchOrigins(context: BrowserContext): ReadonlySet<string> {
  const origins = new Set<string>()
  const add = (frame: Frame) => {
    const { protocol = '', origin = '' } = URL.parse(frame.url()) ?? {}
    if (/^https?:$/.test(protocol) && origins.size < mostOrigins) origins.add(origin)
  }
  const watch = (page: Page) => {
    page.frames().forEach(add)
    page.on('framenavigated', add)
  }
  context.pages().forEach(watch)
  context.on('page', watch)
  return origins
}

/**
 * The cookies of a session, and what these origins have stored.
 * @param base stands for what other origins have stored, and what could not be read.
 */
export async function collectState(
  session: BrowserSession,
  { origins, base, maxBytes }: { origins: ReadonlySet<string>; base: Entries; maxBytes: number },
): Promise<Entries> {
  const entries = withCookies(base, await session.context.cookies())
  if (origins.size === 0) return entries
  const end = performance.now() + limits.all
  const page = await session.hidden.open()
  try {
    await prepare(session, page)
    for (const origin of origins) {
      const left = end - performance.now()
      if (left <= 0) break
      const reading = readOrigin(page, origin, maxBytes).catch(() => undefined)
      const found = await Promise.race([reading, delay(left, undefined, { ref: false })])
      if (found !== undefined) replaceOrigin(entries, origin, found)
    }
  } finally {
    page.close().catch(() => {})
  }
  return entries
}

/** Every address answers an empty document, and no script of a site runs in it. */
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
