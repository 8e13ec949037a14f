import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import type { Clock } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import { createForwardProxy } from '#platform/outbound/forward-proxy.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { createFairSlots } from '#platform/workers/fair-slots.ts'
import { actionError, timedOut } from '../actions/action-error.ts'
import { Overdue, within } from '../actions/within.ts'
import type { Browsers, UsedBrowser } from '../chromium/browsers.ts'
import { read } from '../in-page/read.ts'
import { BrowserSession } from '../sessions/browser-session.ts'
import { usualUserAgent } from '../sessions/user-agent.ts'

export interface RenderedPage {
  /** After redirects, also those by scripts. */
  url: string
  html: string
}

/**
 * The page once its scripts have written it, in a context of its own without cookies.
 * @throws AppError OUTBOUND_REFUSED, BROWSER_FAILED, BROWSER_UNAVAILABLE or ACTION_TIMEOUT.
 */
export type RenderPage = (
  agentId: string,
  url: string,
  options: { signal: AbortSignal },
) => Promise<RenderedPage>

interface Dependencies {
  browsers: Pick<Browsers, 'use'>
  connect: Outbound['connect']
  clock: Clock
}

/** Pages that are rendered at a time, and of one agent. */
const places = { all: 2, ofAgent: 1 }
/** Milliseconds. */
const limits = { page: 20_000, settled: 8000, between: 100 }
/** How often a page without text must be found unchanged, until it is one that has none. */
const stillWithoutText = 8
/** Bytes of a page, more than a crawl takes; a longer one is cut. */
const maxHtml = 6 * 1024 * 1024
const unneeded = new Set(['image', 'font', 'media'])

export function createPageRenderer({ browsers, connect, clock }: Dependencies): RenderPage {
  const slots = createFairSlots(places.all, places.ofAgent)

  async function renderIn(
    { browser, reachedAs }: UsedBrowser,
    agentId: string,
    url: string,
    signal: AbortSignal,
  ) {
    const proxy = await createForwardProxy({ connect, owner: agentId, reachedAs })
    // Sites shall know whose visit it is.
    const userAgent = `${usualUserAgent(browser.version())} agentstead`
    const about = {
      id: '',
      agentId,
      userAgent,
      viewport: { width: 1280, height: 720 },
      acceptDownloads: false,
    }
    try {
      const session = await BrowserSession.open({ ...about, browser, proxy, storageState: undefined, clock })
      const rendered = session.inTurn(() => render(session, url))
      return await within(rendered, limits.page, signal).finally(() => session.close())
    } finally {
      await proxy.close()
    }
  }

  return async (agentId, url, { signal }) => {
    const release = await slots.take(agentId, signal)
    try {
      const used = await browsers.use(agentId, { headless: true })
      return await renderIn(used, agentId, url, signal).finally(used.release)
    } catch (error) {
      signal.throwIfAborted()
      const circumstances = { waited: `the page ${url}`, timeout: limits.page }
      throw error instanceof Overdue ? timedOut(circumstances) : actionError(error, circumstances)
    } finally {
      release()
    }
  }
}

async function render(session: BrowserSession, url: string): Promise<RenderedPage> {
  const page = await session.page()
  await page.route('**/*', async route => {
    const isUnneeded = unneeded.has(route.request().resourceType())
    await (isUnneeded ? route.abort() : route.continue()).catch(() => {})
  })
  try {
    await page.goto(url, { waitUntil: 'domcontentloaded', timeout: limits.page })
    await untilWritten(page)
  } catch (error) {
    throw reasonOf(session, url) ?? error
  }
  const failure = reasonOf(session, page.url())
  if (failure !== undefined) throw failure
  const { text } = await read(
    page.locator(':root'),
    'text',
    { attribute: 'document', bytes: maxHtml },
    limits.page,
  )
  return { url: page.url(), html: text ?? '' }
}

/** Until there is text that no longer grows, and nothing more of it is on its way. */
async function untilWritten(page: Page): Promise<void> {
  const underWay = new Set<unknown>()
  page.on('request', request => {
    if (/^(?:fetch|xhr|script)$/.test(request.resourceType())) underWay.add(request)
  })
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfinished', request => underWay.delete(request))
  const end = performance.now() + limits.settled
  let before = -1
  let still = 0
  while (performance.now() < end) {
    const length = await read(page, 'textLength', undefined, limits.settled).catch(() => 0)
    still = length === before && underWay.size === 0 ? still + 1 : 0
    if (still >= (length > 0 ? 1 : stillWithoutText)) return
    before = length
    await delay(limits.between)
  }
}

function reasonOf(session: BrowserSession, url: string): AppError | undefined {
  const known = session.unreachable(url)
  return (
    known && new AppError(known.kind === 'refused' ? 'OUTBOUND_REFUSED' : 'BROWSER_FAILED', known.message)
  )
}
