import { AppError } from '#platform/errors.ts'
import { makeProfileFolder, removeProfileFolder } from './profile-folder.ts'
import type { RunningBrowser } from './start.ts'
import { keepDownloadsIn } from './start.ts'

export interface RemoteBrowser {
  /** Where it answers the DevTools protocol; may hold credentials. */
  url: string
  /** The name or address by which it reaches this machine. */
  proxyHost: string
}

/** Milliseconds. */
const connectMs = 8000

/**
 * Makes a connection to a browser that somebody else has started, and keeps running.
 * @throws AppError BROWSER_UNAVAILABLE, without the credentials of the address
 */
export async function connectRemote({ url }: RemoteBrowser): Promise<RunningBrowser> {
  const { chromium } = await import('playwright-core')
  try {
    const browser = await chromium.connectOverCDP(url, { noDefaults: true, timeout: connectMs })
    const folder = await makeProfileFolder()
    keepDownloadsIn(browser, folder)
    const closed = new Promise<void>(resolve => browser.on('disconnected', () => resolve()))
    return { browser, ended: closed.then(() => removeProfileFolder(folder)) }
  } catch (error) {
    // What Playwright says holds the address.
    const [code = 'no answer'] = /\bE[A-Z]{5,}\b/.exec(String(error)) ?? []
    throw new AppError(
      'BROWSER_UNAVAILABLE',
      `The browser at ${URL.parse(url)?.host} (BROWSER_CDP_URL) cannot be reached: ${code}. Try again once it runs.`,
    )
  }
}
