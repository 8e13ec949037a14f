import { setTimeout as delay } from 'node:timers/promises'
import type { Page, Request } from 'playwright-core'
import {
  besides,
  busyName,
  loadingLine,
  longestLine,
  mountIds,
  mountNames,
  someText,
} from '#documents/parsing/html/placeholders.ts'
import type { Clock } from '#platform/clock.ts'
import { read } from '../in-page/read.ts'
import type { PageState, PlaceholderSigns } from '../in-page/settling.ts'

/** Times in milliseconds. A text in which only digits change counts as quiet after `quietWords`. */
const limits = { settled: 10_000, quiet: 500, quietWords: 2000, between: 100, reading: 5000 }
/** Max repetitions of a request; further ones count as endless polling. */
const mostRepetitions = 3

const signs: PlaceholderSigns = {
  loadingLine: loadingLine.source,
  longestLine,
  busyName: busyName.source,
  mounts: [...mountNames, ...Array.from(mountIds, id => `#${id}`), '[role="main"]'].join(),
  besides: [...besides, '[role="navigation"]'].join(),
  someText,
}

/** Matches scripts in the sent page, and everything else that can change it later. */
const canChange =
  /<script\b(?![^>]{0,200}\btype\s*=\s*["']?application\/(?:ld\+)?json)|<i?frame\b|\son\w+\s*=|javascript:|http-equiv\s*=\s*["']?refresh/i

/** Matches requests that are answered when something happens. */
const isPolling = (url: string) =>
  /[?&]transport=|\/(?:sockjs|socket\.io|signalr|long-?poll(?:ing)?|poll(?:ing)?)(?:[/?]|$)/i.test(url)

export interface PageTraffic {
  /** Returns true while a request that can bring text is open. */
  isUnderWay(): boolean
  /** The time of the last response's end. */
  readonly endedAt: number
}

/** Must be called before the page is opened, to count all of its requests. */
export function watchTraffic(page: Page, clock: Clock): PageTraffic {
  const underWay = new Set<Request>()
  const repetitions = new Map<string, number>()
  let endedAt = clock.now()
  const end = (request: Request) => {
    if (underWay.delete(request)) endedAt = clock.now()
  }
  page.on('request', request => {
    const type = request.resourceType()
    if (type === 'document' && request.frame() === page.mainFrame()) underWay.clear()
    const url = request.url()
    if (!/^(?:fetch|xhr|script)$/.test(type) || isPolling(url)) return
    const name = `${request.method()} ${url}`
    const count = (repetitions.get(name) ?? 0) + 1
    repetitions.set(name, count)
    if (count <= mostRepetitions) underWay.add(request)
  })
  page.on('response', response => {
    const { 'content-type': type = '' } = response.headers()
    if (/event-stream|x-mixed-replace/i.test(type)) end(response.request())
  })
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  return {
    isUnderWay: () => underWay.size > 0,
    get endedAt() {
      return endedAt
    },
  }
}

/**
 * Waits until scripts have written the page: its text is stable, and no more of it is being loaded.
 * @param sent the page as it was sent, if known.
 * @returns the placeholder that the page still shows instead of content; null if it has content.
 */
export async function waitForIdlePage(
  page: Page,
  { sent, traffic, clock }: { sent: string | undefined; traffic: PageTraffic; clock: Clock },
): Promise<string | null> {
  if (sent !== undefined && !canChange.test(sent)) return null
  const began = clock.now()
  let seen: PageState = { text: '', words: '', placeholder: 'no text' }
  let [textAt, wordsAt] = [began, began]
  for (;;) {
    const state = await read(page, 'settling', signs, limits.reading).catch(() => undefined)
    const now = clock.now()
    if (state?.text !== seen.text) textAt = now
    if (state?.words !== seen.words) wordsAt = now
    seen = state ?? seen
    const quiet = now - Math.max(wordsAt, traffic.endedAt)
    const isQuiet =
      quiet >= limits.quiet && (now - textAt >= limits.quiet || now - wordsAt >= limits.quietWords)
    if (isQuiet && !traffic.isUnderWay() && seen.placeholder === null) return null
    if (now - began >= limits.settled) return seen.placeholder
    await delay(limits.between)
  }
}
