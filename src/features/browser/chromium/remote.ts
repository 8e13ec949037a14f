import { join } from 'node:path'
import { AppError } from '#platform/errors.ts'
import { removeTemporaryFolder } from '#platform/temporary-folder.ts'
import { DevToolsConnection, type ParseLarge } from './devtools/connection.ts'
import { openWebSocket } from './devtools/web-socket.ts'
import { makeProfileFolder } from './profile-folder.ts'
import { type RunningBrowser, remember } from './start.ts'

export interface RemoteBrowser {
  /** The address of its DevTools protocol; can contain credentials. */
  url: string
  /** The name or address by which it reaches this machine. */
  proxyHost: string
}

const connectMs = 8000

/**
 * Connects to a browser that runs independently of this service.
 * @throws AppError BROWSER_UNAVAILABLE, without the credentials of the address
 */
export async function connectRemote({ url }: RemoteBrowser, parseLarge: ParseLarge): Promise<RunningBrowser> {
  const { chromium } = await import('playwright-core')
  const folder = await makeProfileFolder()
  let connection: DevToolsConnection | undefined
  try {
    connection = new DevToolsConnection(await openWebSocket(url, AbortSignal.timeout(connectMs)), parseLarge)
    const ended = connection.closed.then(() => removeTemporaryFolder(folder))
    const options = { artifactsDir: join(folder, 'downloads'), noDefaults: true, timeout: connectMs }
    const browser = await chromium.connectOverCDP(connection, options)
    remember(browser, connection, folder)
    return { browser, connection, ended }
  } catch (error) {
    connection?.close()
    await removeTemporaryFolder(folder)
    // Playwright's message contains the address.
    const [code = 'no answer'] = /\bE[A-Z]{5,}\b/.exec(String(error)) ?? []
    throw new AppError(
      'BROWSER_UNAVAILABLE',
      `The browser at ${URL.parse(url)?.host} (BROWSER_CDP_URL) cannot be reached: ${code}. Try again once it runs.`,
    )
  }
}
