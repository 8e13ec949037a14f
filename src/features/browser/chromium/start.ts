import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Browser } from 'playwright-core'
import { AppError } from '#platform/errors.ts'
import { removeTemporaryFolder } from '#platform/temporary-folder.ts'
import { runOwned } from '#platform/uncaught-errors.ts'
import { browserUser } from './browser-user.ts'
import type { Program } from './bundled.ts'
import { DevToolsConnection, type ParseLarge } from './devtools/connection.ts'
import { createPipe } from './devtools/pipe.ts'
import { makeProfileFolder } from './profile-folder.ts'
import { switchesOf } from './switches.ts'

export interface StartOptions {
  program: Program
  headless: boolean
  /** The display of a browser with a window. */
  display: string | undefined
  sandbox: boolean
  /** True if the browser uses the libraries of its package. */
  ownLibraries: boolean
  parseLarge: ParseLarge
}

export interface RunningBrowser {
  browser: Browser
  connection: DevToolsConnection
  /** Resolves when its process has ended and its folder is removed. Never rejects. */
  ended: Promise<void>
}

/** The browser did not start; `output` is the end of its output. */
export class StartFailed extends AppError {
  readonly output: string
  constructor(program: Program, output: string, cause?: unknown) {
    const said = output.trim().split('\n').slice(-3).join(' ').slice(-500)
    super('BROWSER_UNAVAILABLE', `${program.path} could not be started. ${said}`.trim(), { cause })
    this.output = output
  }
}

/** Max time until a browser answers, on a very busy machine (ms). */
const connectMs = 30_000

const known = new WeakMap<Browser, { connection: DevToolsConnection; downloads: string }>()

/** Stores a browser's connection and the folder of its sessions' files. */
export function remember(browser: Browser, connection: DevToolsConnection, folder: string): void {
  known.set(browser, { connection, downloads: join(folder, 'downloads') })
}

/** Returns the folder with the downloads of a browser that was started here. */
export function downloadFolderOf(browser: Browser): string | undefined {
  return known.get(browser)?.downloads
}

export function connectionOf(browser: Browser): DevToolsConnection | undefined {
  return known.get(browser)?.connection
}

/** Lowers the priority of browsers below that of requests. */
const niceness = 5

/**
 * Starts a browser in a process group, with its own folder and environment, and connects to it.
 * `browser.close()` kills the group; any end of the process removes the folder.
 * @throws StartFailed
 */
export async function startChromium(options: StartOptions): Promise<RunningBrowser> {
  let child: ChildProcess | undefined
  const end = () => child && killGroup(child)
  const started = (process: ChildProcess) => {
    child = process
  }
  return await runOwned({ name: 'a browser', end }, () => start(options, started))
}

async function start(
  options: StartOptions,
  started: (process: ChildProcess) => void,
): Promise<RunningBrowser> {
  const { chromium } = await import('playwright-core')
  const { program } = options
  const folder = await makeProfileFolder()
  const child = spawn(program.path, switchesOf({ ...options, profile: join(folder, 'profile') }), {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    env: environmentOf(options, folder),
    ...browserUser,
  })
  started(child)
  const output = endOf(child.stderr as Readable)
  const [, , , commands, events] = child.stdio as [null, null, Readable, Writable, Readable]
  // The exit reports the end, so other errors are ignored.
  child.on('error', () => {})
  const pipe = createPipe({ commands, events, end: () => killGroup(child) })
  const connection = new DevToolsConnection(pipe, options.parseLarge)
  const exited = once(child, 'exit').then(
    () => undefined,
    (error: unknown) => error,
  )
  const ended = exited.then(() => {
    connection.close()
    return removeTemporaryFolder(folder)
  })
  const failed = exited.then(error => {
    throw new StartFailed(program, error instanceof Error ? error.message : output(), error)
  })
  beNice(child)
  try {
    const connected = chromium.connectOverCDP(connection, {
      artifactsDir: join(folder, 'downloads'),
      noDefaults: true,
      timeout: connectMs,
    })
    const browser = await Promise.race([connected, failed])
    failed.catch(() => {})
    remember(browser, connection, folder)
    return { browser, connection, ended }
  } catch (error) {
    killGroup(child)
    throw error instanceof StartFailed ? error : new StartFailed(program, output(), error)
  }
}

/** Returns an environment without the service's variables, which contain secrets. */
function environmentOf({ program, ownLibraries, display, headless }: StartOptions, folder: string) {
  return {
    HOME: folder,
    TMPDIR: folder,
    LANG: 'C.UTF-8',
    ...(program.fonts !== undefined && { FONTCONFIG_PATH: program.fonts }),
    ...(program.libraries !== undefined && ownLibraries && { LD_LIBRARY_PATH: program.libraries }),
    ...(display !== undefined && !headless && { DISPLAY: display }),
  }
}

/** Reads the stream, which would block its writer otherwise, and returns the end of its text. */
function endOf(stream: Readable): () => string {
  let end = ''
  stream.on('error', () => {})
  stream.setEncoding('utf8').on('data', (text: string) => {
    end = (end + text).slice(-4000)
  })
  return () => end
}

/** A group exists as long as any of its processes. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All of its processes have ended.
  }
}

function beNice({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness)
  } catch {
    // The process has ended already, which is reported elsewhere.
  }
}
