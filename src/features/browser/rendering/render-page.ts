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
import { waitForIdlePage, watchTraffic } from './wait-for-idle-page.ts'

export interface RenderedPage {
  /** The address after redirects, also those by scripts. */
  url: string
  html: string
  /** The reason that the page shows no content, because its scripts were too slow; null if it has content. */
  placeholder: string | null
}

/**
 * Returns a page once its scripts have written it, in a context of its own without cookies.
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

/** Max pages rendered at a time, and those of one agent; a page mostly waits. */
const places = { all: 4, ofAgent: 2 }
/** Time limits (ms). A page that opens just in time can take ten seconds more to settle. */
const limits = { opened: 20_000, page: 32_000 }
/** Max bytes of a page, more than a crawl takes; a longer one is cut. */
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
    // Sites can see that agentstead visits them.
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
      const rendered = session.inTurn(() => render(session, url, clock))
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

async function render(session: BrowserSession, url: string, clock: Clock): Promise<RenderedPage> {
  const page = await session.page()
  const traffic = watchTraffic(page, clock)
  let placeholder: string | null
  await page.route('**/*', async route => {
    const isUnneeded = unneeded.has(route.request().resourceType())
    await (isUnneeded ? route.abort() : route.continue()).catch(() => {})
  })
  try {
    const answer = await page.goto(url, { waitUntil: 'domcontentloaded', timeout: limits.opened })
    const sent = await answer?.text().catch(() => undefined)
    placeholder = await waitForIdlePage(page, { sent, traffic, clock })
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
  return { url: page.url(), html: text ?? '', placeholder }
}

function reasonOf(session: BrowserSession, url: string): AppError | undefined {
  const known = session.unreachable(url)
  return (
    known && new AppError(known.kind === 'refused' ? 'OUTBOUND_REFUSED' : 'BROWSER_FAILED', known.message)
  )
}
