import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Browser } from 'playwright-core'
import { AppError } from '#platform/errors.ts'
import { browserUser } from './browser-user.ts'
import type { Program } from './bundled.ts'
import { createPipeTransport } from './pipe-transport.ts'
import { makeProfileFolder, removeProfileFolder } from './profile-folder.ts'
import { switchesOf } from './switches.ts'

export interface StartOptions {
  program: Program
  headless: boolean
  /** The display of a browser with a window. */
  display: string | undefined
  sandbox: boolean
  /** Whether it is given the libraries that came with it. */
  ownLibraries: boolean
}

export interface RunningBrowser {
  browser: Browser
  /** Resolves when its process has ended and its folder is gone. Never rejects. */
  ended: Promise<void>
}

/** A browser that did not come up; `output` is the end of what it said. */
export class StartFailed extends AppError {
  readonly output: string
  constructor(program: Program, output: string, cause?: unknown) {
    const said = output.trim().split('\n').slice(-3).join(' ').slice(-500)
    super('BROWSER_UNAVAILABLE', `${program.path} could not be started. ${said}`, { cause })
    this.output = output
  }
}

/** Milliseconds in which a browser answers, on a machine that is very busy. */
const connectMs = 30_000

const downloadFolders = new WeakMap<Browser, string>()

/** Names the folder for what sessions of the browser keep. */
export function keepDownloadsIn(browser: Browser, folder: string): void {
  downloadFolders.set(browser, join(folder, 'downloads'))
}

/** Where a browser that was started here keeps what its pages download. */
export function downloadFolderOf(browser: Browser): string | undefined {
  return downloadFolders.get(browser)
}

/** Pages have to wait for requests, never the other way round. */
const niceness = 5

/**
 * Starts a browser in a process group, with a folder and an environment of its own, and connects to it.
 * `browser.close()` kills the group; the folder goes when the process has ended, for whatever reason.
 * @throws StartFailed
 */
export async function startChromium(options: StartOptions): Promise<RunningBrowser> {
  const { chromium } = await import('playwright-core')
  const { program } = options
  const folder = await makeProfileFolder()
  const child = spawn(program.path, switchesOf({ ...options, profile: join(folder, 'profile') }), {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    env: environmentOf(options, folder),
    ...browserUser,
  })
  const output = endOf(child.stderr as Readable)
  const [, , , commands, events] = child.stdio as [null, null, Readable, Writable, Readable]
  const transport = createPipeTransport({ commands, events, end: () => killGroup(child) })
  const exited = once(child, 'exit').then(
    () => undefined,
    (error: unknown) => error,
  )
  const ended = exited.then(() => {
    transport.onclose?.()
    return removeProfileFolder(folder)
  })
  const failed = exited.then(error => {
    throw new StartFailed(program, error instanceof Error ? error.message : output(), error)
  })
  beNice(child)
  try {
    const connected = chromium.connectOverCDP(transport, {
      artifactsDir: join(folder, 'downloads'),
      noDefaults: true,
      timeout: connectMs,
    })
    const browser = await Promise.race([connected, failed])
    failed.catch(() => {})
    keepDownloadsIn(browser, folder)
    return { browser, ended }
  } catch (error) {
    killGroup(child)
    throw error instanceof StartFailed ? error : new StartFailed(program, output(), error)
  }
}

/** Nothing of the service's own, which holds its secrets. */
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

/** Reads the stream, since nobody could write to it otherwise, and gives the end of what it said. */
function endOf(stream: Readable): () => string {
  let end = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    end = (end + text).slice(-4000)
  })
  return () => end
}

/** A group exists as long as one of its processes does. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All have ended.
  }
}

function beNice({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness)
  } catch {
    // It has ended already, which is told elsewhere.
  }
}
