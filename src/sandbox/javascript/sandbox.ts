import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { AppError } from '#platform/errors.ts'
import { isDeeperThan } from '#platform/json-depth.ts'
import type { Log } from '#platform/logging/log.ts'
import { createFairSlots } from '#platform/workers/fair-slots.ts'
import {
  createWorkerPool,
  WorkerCrashed,
  type WorkerPool,
  WorkerTimeout,
} from '#platform/workers/worker-pool.ts'
import { bounds, defaultLimits, type RunLimits } from './limits.ts'
import type { RunTask, ToMain, ToThread } from './messages.ts'
import type { ConsoleLine, Ending, FailedEnding, JsonValue, RunResult } from './outcome.ts'
import { createPulse, watchPulse } from './pulse.ts'
import { createRequestServer, type GuardedFetch } from './serve-requests.ts'
import { cpuExceeded, wallExceeded } from './time-budget.ts'

export interface SandboxRun {
  /** Body of an async function of `args`. */
  code: string
  /** The JSON value of `args`. */
  argument?: unknown
  /** The argument if it is JSON already. */
  argumentJson?: string
  /** The owner of the run, such as the agent's id. Owners take turns, so that none can occupy all threads. */
  owner: string
  /** Aborting ends the run at any point. */
  signal?: AbortSignal
  limits?: Partial<RunLimits>
  /** Max wait for a thread, before it ends as `busy` (ms); defaults to that of the sandbox. */
  maxWaitMs?: number
  /** Only looks for syntax errors; the value is then null. */
  onlyCompiles?: boolean
}

export interface Sandbox {
  /** Resolves at any end, with the console. Rejects with the caller's reason of abort or SHUTTING_DOWN. */
  run(run: SandboxRun): Promise<RunResult>
  /** Returns the code's syntax error, with line and column; undefined without. Throws OVERLOADED if busy. */
  check(code: string, owner: string): Promise<string | undefined>
  /** Ends all runs and threads. */
  close(): Promise<void>
}

export interface SandboxOptions {
  log: Log
  /** Sends the requests of the code: the outbound guard's `fetch`. */
  fetch: GuardedFetch
  /** Max concurrent runs; each needs a thread of its own, even while it waits for an answer. */
  maxThreads?: number
  /** Default max wait of a run for a thread, before it ends as `busy` (ms). */
  maxWaitMs?: number
}

const workerFile = new URL('./run.worker.ts', import.meta.url)

/**
 * The code of one run has 64 MiB. The rest is for texts in transit, and for earlier runs that are not garbage-collected
 * yet.
 */
const threadMemoryMb = 1024
const threadIdleMs = 30_000

/**
 * The thread ends a run by itself. An uninterruptible part, such as a built-in that loops in C, is killed
 * this long after the processor time or the whole time is over (ms).
 */
const graceMs = 2000

/** Runs JavaScript written by users and models: QuickJS, on threads that can be killed. An idle sandbox has no threads. */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { log, fetch, maxThreads = 4, maxWaitMs = 60_000 } = options
  const pool = createWorkerPool({
    log,
    maxThreads,
    memoryLimitMb: threadMemoryMb,
    idleTimeoutMs: threadIdleMs,
  })
  const slots = createFairSlots(maxThreads, Math.ceil(maxThreads / 2))
  const closing = new AbortController()

  /** Returns the function that releases the slot; undefined if none became free in time. */
  async function takeSlot(
    owner: string,
    signal: AbortSignal,
    waitMs: number,
  ): Promise<(() => void) | undefined> {
    const timeout = AbortSignal.timeout(waitMs)
    try {
      return await slots.take(owner, AbortSignal.any([signal, timeout]))
    } catch (error) {
      if (error === timeout.reason) return undefined
      throw error
    }
  }

  const run: Sandbox['run'] = async ({ code, argument, owner, signal: given, limits: own, ...others }) => {
    const limits = { ...defaultLimits, ...own }
    const signal = given === undefined ? closing.signal : AbortSignal.any([closing.signal, given])
    const argumentJson = others.argumentJson ?? jsonOf(argument)
    const refusal = refusalOfCode(code) ?? refusalOfArgument(argumentJson)
    if (refusal !== undefined) return { outcome: 'refused', message: refusal, console: [] }
    const release = await takeSlot(owner, signal, others.maxWaitMs ?? maxWaitMs)
    if (release === undefined) return { ...busy, console: [] }
    try {
      return await runInThread(
        { code, argumentJson, limits, pulse: createPulse(), onlyCompiles: others.onlyCompiles ?? false },
        { pool, fetch, log, signal },
      )
    } finally {
      release()
    }
  }

  return {
    run,
    /** The owner's runs, which can be long, do not delay a check. */
    async check(code, owner) {
      const checked = await run({ code, owner: `${owner}:check`, onlyCompiles: true })
      if (checked.outcome === 'busy') throw new AppError('OVERLOADED', checked.message)
      return checked.outcome === 'returned' ? undefined : checked.message
    },
    async close() {
      closing.abort(new AppError('SHUTTING_DOWN', 'The server is shutting down; try again in a moment.'))
      await pool.close()
    },
  }
}

const busy: FailedEnding = {
  outcome: 'busy',
  message: 'The code was not run because too much other code is running. Try again in a moment.',
}

interface ThreadSurroundings {
  pool: WorkerPool
  fetch: GuardedFetch
  log: Log
  signal: AbortSignal
}

async function runInThread(
  task: Omit<RunTask, 'port'>,
  { pool, fetch, log, signal }: ThreadSurroundings,
): Promise<RunResult> {
  const { port1: port, port2 } = new MessageChannel()
  const over = new AbortController()
  const lines: ConsoleLine[] = []
  const { limits, pulse } = task
  const watch = watchPulse(pulse, limits.cpuMs + graceMs)
  const answer = createRequestServer({ fetch, limits, log, signal: over.signal })

  port.on('message', (message: ToMain) => {
    if (message.kind === 'console') lines.push(message.line)
    else void answer(message.request).then(answered => reply(port, { id: message.id, answer: answered }))
  })
  try {
    const ending = await pool
      .run<Ending>({
        file: workerFile,
        name: 'runCode',
        argument: { ...task, port: port2 } satisfies RunTask,
        transfer: [port2],
        signal: AbortSignal.any([signal, watch.signal]),
        timeoutMs: limits.wallMs + graceMs,
      })
      .catch(error => {
        if (error === watch.signal.reason)
          return { outcome: 'timed-out', message: cpuExceeded(limits.cpuMs) } as const
        return endingOfKilled(error, limits)
      })
    // The end of a run can overtake its earlier lines.
    for (let rest = receiveMessageOnPort(port); rest; rest = receiveMessageOnPort(port)) {
      if (rest.message.kind === 'console') lines.push(rest.message.line)
    }
    return resultOf(ending, lines)
  } finally {
    watch.stop()
    over.abort()
    port.close()
  }
}

function reply(port: MessagePort, message: ToThread): void {
  port.postMessage(message)
}

function endingOfKilled(error: unknown, limits: RunLimits): FailedEnding {
  if (error instanceof WorkerTimeout) return { outcome: 'timed-out', message: wallExceeded(limits.wallMs) }
  if (error instanceof WorkerCrashed) {
    return { outcome: 'out-of-memory', message: 'The code was stopped because it took too much memory.' }
  }
  throw error
}

function resultOf(ending: Ending, console: ConsoleLine[]): RunResult {
  if (ending.outcome !== 'returned') return { ...ending, console }
  return { outcome: 'returned', value: JSON.parse(ending.json) as JsonValue, console }
}

/** Returns JSON, or for a value that is nested too deeply for it a placeholder, itself too deep. */
function jsonOf(argument: unknown): string {
  try {
    return JSON.stringify(argument) ?? 'null'
  } catch (error) {
    if (error instanceof RangeError) return '['.repeat(bounds.depth + 1)
    throw error
  }
}

function refusalOfCode(code: string): string | undefined {
  const { codeCharacters } = bounds
  if (code.length > codeCharacters) return `The code is longer than ${codeCharacters} characters.`
  // The engine would not read beyond that character.
  return code.includes('\0') ? 'The code contains the character U+0000. Write \\0 instead.' : undefined
}

function refusalOfArgument(argumentJson: string): string | undefined {
  const { argumentCharacters, depth } = bounds
  if (argumentJson.length > argumentCharacters) {
    return `The arguments are longer than ${argumentCharacters} characters as JSON.`
  }
  if (isDeeperThan(depth, argumentJson)) return `The arguments are nested more than ${depth} levels deep.`
  return undefined
}
