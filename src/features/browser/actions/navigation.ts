import { setTimeout as delay } from 'node:timers/promises'
import type { Frame, Page, Request } from 'playwright-core'

/** Max time from a cause until the page begins to load another one (ms). */
const beginsWithinMs = 100

const failureShownMs = 500

/** Watches for a navigation to another page. */
export function followNavigation(page: Page) {
  const arrived = Promise.withResolvers<void>()
  const shown = Promise.withResolvers<void>()
  let address: string | undefined
  const isOfPage = (request: Request) => request.isNavigationRequest() && request.frame() === page.mainFrame()
  const begin = (request: Request) => {
    if (isOfPage(request)) address = request.url()
  }
  const fail = (request: Request) => {
    if (isOfPage(request)) arrived.resolve()
  }
  const arrive = (frame: Frame) => {
    if (address === undefined || frame !== page.mainFrame()) return
    arrived.resolve()
    shown.resolve()
  }
  page.on('request', begin)
  page.on('requestfailed', fail)
  page.on('framenavigated', arrive)
  return {
    /** Returns the other page's address after redirects; undefined if there is none. */
    address: () => address,
    /** Waits until the other page, if there is one, can be read; at most this time (ms). */
    async settle(timeout: number): Promise<void> {
      if (address === undefined) await delay(beginsWithinMs)
      if (address === undefined) return
      const limit = Math.max(timeout, 1)
      await Promise.race([arrived.promise, delay(limit, undefined, { ref: false })])
      await page.waitForLoadState('domcontentloaded', { timeout: limit }).catch(() => {})
    },
    /** Waits until the browser shows the failed load, which would interrupt the next action. */
    failureShown: () => Promise.race([shown.promise, delay(failureShownMs, undefined, { ref: false })]),
    end(): void {
      page.off('request', begin)
      page.off('requestfailed', fail)
      page.off('framenavigated', arrive)
    },
  }
}
