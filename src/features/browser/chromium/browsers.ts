import type { Browser } from 'playwright-core'
import { invalid } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import { bundledChromium, type Program } from './bundled.ts'
import type { ParseLarge } from './devtools/connection.ts'
import { createParseLarge } from './devtools/parse-large.ts'
import { connectRemote, type RemoteBrowser } from './remote.ts'
import { type RunningBrowser, StartFailed, startChromium } from './start.ts'

interface Dependencies {
  dataDirectory: string
  /** The operator's own browser; undefined for the bundled one. */
  chromiumPath: string | undefined
  /** A browser elsewhere, used instead of starting browsers here. */
  remote: RemoteBrowser | undefined
  display: string | undefined
  /** Threads that parse large messages of browsers. */
  workers: WorkerPool
  log: Log
  /** Time until a browser without users is closed (ms). */
  idleMs?: number
}

/** A browser in use; it stays open until all users have released it, and `idleMs` longer. */
export interface UsedBrowser {
  browser: Browser
  /** The name by which the browser reaches this machine, if the browser is on another one. */
  reachedAs: string | undefined
  /** Further calls do nothing. */
  release(): void
}

interface Entry {
  starting: Promise<RunningBrowser>
  users: number
  idle?: NodeJS.Timeout
}

export type Browsers = ReturnType<typeof createBrowsers>

/** One browser for each agent, because copied text can be pasted in any page of the same browser. */
export function createBrowsers(dependencies: Dependencies) {
  const { chromiumPath, remote, display, idleMs = 60_000 } = dependencies
  const parseLarge = createParseLarge(dependencies.workers)
  const start =
    remote === undefined ? createStart(dependencies, parseLarge) : () => connectRemote(remote, parseLarge)
  const entries = new Map<string, Entry>()

  function entryOf(key: string, headless: boolean): Entry {
    const known = entries.get(key)
    if (known !== undefined) return known
    const entry: Entry = { starting: start(headless), users: 0 }
    entry.starting.then(
      ({ connection }) => connection.closed.then(() => forget(key, entry)),
      () => forget(key, entry),
    )
    entries.set(key, entry)
    return entry
  }

  function forget(key: string, entry: Entry): void {
    if (entries.get(key) === entry) entries.delete(key)
  }

  function letGo(key: string, entry: Entry): void {
    entry.users -= 1
    if (entry.users > 0) return
    const close = () => {
      forget(key, entry)
      void end(entry)
    }
    entry.idle = setTimeout(close, idleMs).unref()
  }

  /** Takes a browser; one that no longer answers is ended and replaced. */
  async function hold(key: string, headless: boolean): Promise<UsedBrowser> {
    const entry = entryOf(key, headless)
    clearTimeout(entry.idle)
    entry.users += 1
    let isHeld = true
    const release = () => {
      if (isHeld) letGo(key, entry)
      isHeld = false
    }
    try {
      const { browser, connection } = await entry.starting
      if (await connection.answers()) return { browser, reachedAs: remote?.proxyHost, release }
      forget(key, entry)
      connection.close()
    } catch (error) {
      release()
      throw error
    }
    release()
    return await hold(key, headless)
  }

  return {
    /** @throws AppError BROWSER_UNAVAILABLE if it can't start, VALIDATION_ERROR for a window here. */
    async use(agentId: string, { headless }: { headless: boolean }): Promise<UsedBrowser> {
      if (!headless && remote !== undefined)
        throw invalid('headless', 'can be false only where BROWSER_CDP_URL is not set')
      if (!headless && (chromiumPath === undefined || display === undefined))
        throw invalid('headless', 'can be false only where CHROMIUM_PATH and DISPLAY are set')
      return await hold(`${agentId} ${headless}`, headless)
    },

    async close(): Promise<void> {
      const all = [...entries.values()]
      entries.clear()
      for (const { idle } of all) clearTimeout(idle)
      await Promise.all(all.map(end))
    },
  }
}

/** Never rejects: a browser that failed to start, or has ended already, is ignored. */
async function end({ starting }: Entry): Promise<void> {
  const running = await starting.catch(() => undefined)
  await running?.browser.close().catch(() => {})
  await running?.ended
}

/** Starts browsers, and remembers missing features of this machine for later starts. */
function createStart({ dataDirectory, chromiumPath, display, log }: Dependencies, parseLarge: ParseLarge) {
  let sandbox = true
  let ownLibraries = false

  /** Returns true if there is another way to start the browser. */
  function adapt({ output }: StartFailed, { libraries }: Program): boolean {
    if (!ownLibraries && libraries !== undefined && /error while loading shared libraries/.test(output)) {
      ownLibraries = true
      return true
    }
    if (!sandbox || !/sandbox|zygote|CanCreateProcessInNewUserNS/i.test(output)) return false
    sandbox = false
    log.warn(
      'Chromium runs without its sandbox, which this system does not allow: a page that breaks out of Chromium can do what this service can. Allow user namespaces (in Docker a seccomp profile that does).',
    )
    return true
  }

  return async (headless: boolean): Promise<RunningBrowser> => {
    const program = chromiumPath === undefined ? await bundledChromium(dataDirectory) : { path: chromiumPath }
    for (;;) {
      const before = { sandbox, ownLibraries }
      try {
        return await startChromium({ program, headless, display, parseLarge, ...before })
      } catch (error) {
        const isChanged = before.sandbox !== sandbox || before.ownLibraries !== ownLibraries
        if (!(error instanceof StartFailed) || !(isChanged || adapt(error, program))) throw error
      }
    }
  }
}
