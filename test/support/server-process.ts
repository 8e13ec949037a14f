/** The whole service as a process of its own, as a person starts it: for what no test within a process can show. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import manifest from '../../package.json' with { type: 'json' }
import type { Answer, CallOptions } from './build-app.ts'
import { storageEnvironment } from './postgres/environment.ts'
import { serverBundle } from './server-bundle.ts'

const root = new URL('../../', import.meta.url).pathname
/** What `npm start` gives to Node, without the shell. */
const parameters = manifest.scripts.start.split(' ').slice(2)
const readyLine = /^agentstead is ready at (http\S+)$/m

/** In milliseconds. Far more than a start takes, since the machine may be busy with other tests. */
const startLimit = 240_000

export interface ServerProcess {
  /** Where it listens, without a slash at the end. */
  url: string
  /** Milliseconds from the start of the process to its ready line. */
  startedIn: number
  process: ChildProcess
  /** What it has printed so far: its log, and the ready line. */
  output(): string
  /** The exit code, once it has ended; null after a signal that it did not handle. */
  ended: Promise<number | null>
  /** `Body` is what the test takes the answer's body for; nothing checks it. */
  call<Body = unknown>(
    method: string,
    path: string,
    options?: Pick<CallOptions, 'body' | 'headers'>,
  ): Promise<Answer<Body>>
  /** As a crash: kill -9, and waits for the end. */
  kill(): Promise<void>
  /** As an operator: SIGTERM; the exit code. */
  stop(): Promise<number | null>
  /** Kills it if it still runs. */
  [Symbol.asyncDispose](): Promise<void>
}

/** The file that Node runs in the place of the one of `npm start`. */
function entry(program: string | undefined): string | Promise<string> {
  if (program === 'main') return 'src/main.ts'
  return program === undefined ? serverBundle() : `test/support/programs/${program}`
}

interface StartOptions {
  dataDirectory: string
  /** Environment variables, over those that suit tests; nothing that the service reads is passed on of the test's own environment. */
  environment?: Record<string, string>
  /** Kills the process, as a crash, also before it is ready. */
  signal?: AbortSignal
  /** How many files and connections it may have open. */
  openFiles?: number
  /** A command that runs the one given behind it, as in other namespaces of the system. */
  within?: readonly string[] | undefined
  /** A file of `test/support/programs`, or `main` for the sources; defaults to the same service in one file. */
  program?: string | undefined
}

const forTests = {
  PORT: '0',
  RATE_LIMIT_GENERAL: '0',
  RATE_LIMIT_CHAT: '0',
  RATE_LIMIT_BROWSER: '0',
  RATE_LIMIT_BULK: '0',
}

/** Starts the service and waits until it is ready. Fails with all that it printed if it ends before. */
export async function startServerProcess({
  dataDirectory,
  environment = {},
  signal,
  openFiles,
  within = [],
  program: file,
}: StartOptions): Promise<ServerProcess> {
  const storage = await storageEnvironment(dataDirectory)
  const begun = performance.now()
  const started = [...parameters.slice(0, -1), await entry(file)]
  const command = [...within, process.execPath, ...started]
  const [program = '', ...rest] =
    openFiles === undefined ? command : ['sh', '-c', `ulimit -n ${openFiles}; exec "$0" "$@"`, ...command]
  const child = spawn(program, rest, {
    cwd: root,
    env: { ...forTests, ...storage, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  signal?.addEventListener('abort', () => child.kill('SIGKILL'), { once: true })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const { url, output } = await untilReady(child, ended)
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return {
    url,
    startedIn: performance.now() - begun,
    process: child,
    output,
    ended,
    call: (method, path, options) => call(url, method, path, options),
    kill,
    stop() {
      child.kill('SIGTERM')
      return ended
    },
    [Symbol.asyncDispose]: kill,
  }
}

async function untilReady(child: ChildProcess, ended: Promise<number | null>) {
  const ready = Promise.withResolvers<string>()
  let printed = ''
  let isReady = false
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (isReady) return
      const url = readyLine.exec(printed)?.[1]
      if (url === undefined) return
      isReady = true
      ready.resolve(url)
    })
  const fail = (what: string) => ready.reject(new Error(`The server ${what}:\n${printed}`))
  const timer = setTimeout(() => {
    fail('did not become ready in time')
    child.kill('SIGKILL')
  }, startLimit)
  ended.then(
    code => fail(`ended with exit code ${code} before it was ready`),
    error => fail(`could not be started (${error})`),
  )
  try {
    return { url: await ready.promise, output: () => printed }
  } finally {
    clearTimeout(timer)
  }
}

async function call<Body>(
  url: string,
  method: string,
  path: string,
  { body, headers = {} }: Pick<CallOptions, 'body' | 'headers'> = {},
): Promise<Answer<Body>> {
  const content =
    body === undefined
      ? { headers }
      : { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
  const response = await fetch(`${url}${path}`, { method, ...content })
  const text = await response.text()
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: parse(text) as Body,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
