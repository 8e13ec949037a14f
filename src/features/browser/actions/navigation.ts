import { setTimeout as delay } from 'node:timers/promises'
import type { Frame, Page, Request } from 'playwright-core'

/** How soon a page begins to load another one after what causes that, in milliseconds. */
const beginsWithinMs = 100

/** Milliseconds. */
const failureShownMs = 500

/** Watches whether what is done leads to another page. */
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
    /** Of the other page, after redirects; undefined if there is none. */
    address: () => address,
    /** Until the other page, if there is one, can be read; at most so many milliseconds. */
    async settle(timeout: number): Promise<void> {
      if (address === undefined) await delay(beginsWithinMs)
      if (address === undefined) return
      const limit = Math.max(timeout, 1)
      await Promise.race([arrived.promise, delay(limit, undefined, { ref: false })])
      await page.waitForLoadState('domcontentloaded', { timeout: limit }).catch(() => {})
    },
    /** Until the browser shows that the page could not be loaded, which would interrupt what comes next. */
    failureShown: () => Promise.race([shown.promise, delay(failureShownMs, undefined, { ref: false })]),
    end(): void {
      page.off('request', begin)
      page.off('requestfailed', fail)
      page.off('framenavigated', arrive)
    },
  }
}
