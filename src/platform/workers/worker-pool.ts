import { setTimeout as pause } from 'node:timers/promises'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import type { Piscina } from 'piscina'
import { AppError, fromThread } from '../errors.ts'
import type { Log } from '../logging/log.ts'
import type { ThreadTask } from './run-task.ts'
import { createSlots } from './slots.ts'

/** A call of an exported function in a thread of the pool. */
export interface WorkerTask {
  /** The module that exports the function; it is loaded once per thread. */
  file: URL
  /** Name of the exported function: takes `argument`, returns the result or a promise of it. */
  name: string
  /** A value that can be cloned between threads. */
  argument: unknown
  /** Ports and buffers in `argument`, which move to the thread. */
  transfer?: readonly (MessagePort | ArrayBuffer)[]
  /** Aborting kills the task at any point. */
  signal?: AbortSignal
  /** Max time from the call of the function (ms), after which it is killed. */
  timeoutMs?: number
}

export interface WorkerPool {
  /**
   * Resolves to the function's result. Rejects with its error (an AppError, or a copy without own
   * properties), with `WorkerTimeout`, `WorkerCrashed`, the reason of the caller's signal, or `SHUTTING_DOWN`
   * once the pool is closed. Tasks beyond `maxThreads` wait in order.
   */
  run<Result>(task: WorkerTask): Promise<Result>
  /** Kills running tasks, refuses waiting ones and ends all threads. */
  close(): Promise<void>
}

export interface WorkerPoolOptions {
  maxThreads?: number
  /** Max memory of one thread in objects and buffers together (MiB), beyond which it is killed. */
  memoryLimitMb?: number
  /** Time that an idle thread is kept for the next task (ms). */
  idleTimeoutMs?: number
  /** True if no caller waits for single tasks: on a busy processor, others go first. Linux only. */
  isBackground?: boolean
  log: Log
}

export type CreateWorkerPool = (options: WorkerPoolOptions) => WorkerPool

/** Thrown if the task ran past its `timeoutMs` and was killed. */
export class WorkerTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`The task was killed after ${timeoutMs} ms.`)
    this.name = 'WorkerTimeout'
  }
}

/** Thrown if the task's thread died, mostly because it held too much memory. */
export class WorkerCrashed extends Error {
  constructor(cause: unknown) {
    super('The thread of the task died, most likely of too much memory.', { cause })
    this.name = 'WorkerCrashed'
  }
}

/**
 * Two threads on any machine: with one, a file that hangs until its time-out would delay everything behind
 * it; with more, hostile files could hold more memory, while the event loop got no processor time.
 */
const defaultMaxThreads = 2
const defaultTimeoutMs = 60_000
/** Max time for a thread to start and load its task's module (ms): on a busy machine longer than the task. */
const loadMs = 60_000
const defaultMemoryLimitMb = 512
const memoryCheckMs = 100
const filename = new URL('./run-task.ts', import.meta.url).href
const bytesPerMb = 1024 * 1024

/**
 * V8's own limit does not count buffers, and a built-in that reaches it (such as `JSON.parse`) ends the
 * process, not its thread. So the pool measures each thread from outside and kills it first; V8's limit is
 * far higher.
 */
const hardLimitFactor = 4

/**
 * Limit of the old generation (MiB) from which V8 lets a heap grow to four times the rest after a collection
 * before the next one; below it, to at most twice that. So threads that read documents for minutes hold half
 * as much garbage, for little time.
 */
const generousFromMb = 2048

/**
 * Size of the young generation (MiB). By default V8 lets it grow to several times as much and seldom shrinks
 * it, and promotes short-lived objects soon: threads that read documents for long hold twice the used memory.
 */
const youngGenerationMb = 12

/**
 * The nice value of background threads above the event loop's: they get a tenth of a processor that both
 * want. A much higher one would delay them while they hold a lock for which the event loop waits.
 */
const backgroundNiceness = 10

/** Creates threads for work that blocks the event loop or must be killable. An idle pool holds no thread. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { maxThreads = defaultMaxThreads, memoryLimitMb = defaultMemoryLimitMb, log } = options
  const closing = new AbortController()
  const slots = createSlots(maxThreads)
  let opened: Promise<Piscina> | undefined

  async function open(): Promise<Piscina> {
    const { Piscina } = await import('piscina')
    const pool = new Piscina({
      minThreads: 0,
      maxThreads,
      idleTimeout: options.idleTimeoutMs ?? 10_000,
      // An idle thread waits for its next task like for any other event, so that its timers continue.
      atomics: 'disabled',
      niceIncrement: options.isBackground ? nicenessOfThreads() : 0,
      resourceLimits: {
        maxOldGenerationSizeMb: hardLimitMb(memoryLimitMb),
        maxYoungGenerationSizeMb: youngGenerationMb,
      },
    })
    pool.on('error', error => log.warn({ err: error }, 'a worker thread without a task failed'))
    pool.on('workerCreate', ({ id }: { id: number }) => {
      const thread = pool.threads.find(one => one.threadId === id)
      if (thread !== undefined) void killWhenTooLarge(thread, memoryLimitMb * bytesPerMb, log)
    })
    return pool
  }

  async function runInThread<Result>(task: WorkerTask): Promise<Result> {
    const { file, name, argument, transfer = [], timeoutMs = defaultTimeoutMs } = task
    opened ??= open()
    const pool = await opened
    const { signal, loaded, clear } = timeOutOf(timeoutMs, [closing.signal, task.signal])
    try {
      const threadTask: ThreadTask = { file: file.href, name, argument, loaded }
      return await pool.run(threadTask, { filename, signal, transferList: [...transfer, loaded] })
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw isDeath(error) ? new WorkerCrashed(error) : fromThread(error)
    } finally {
      clear()
    }
  }

  return {
    async run<Result>(task: WorkerTask): Promise<Result> {
      const signal = AbortSignal.any([closing.signal, ...(task.signal === undefined ? [] : [task.signal])])
      const release = await slots.take(signal)
      return runInThread<Result>(task).finally(release)
    },
    async close() {
      closing.abort(new AppError('SHUTTING_DOWN', 'The server is shutting down; try again in a moment.'))
      await (await opened)?.destroy()
    },
  }
}

/** Returns a signal that aborts with others, and with `WorkerTimeout` so long after a message to `loaded`. */
function timeOutOf(timeoutMs: number, others: readonly (AbortSignal | undefined)[]) {
  const timeout = new AbortController()
  const { port1, port2: loaded } = new MessageChannel()
  const start = (ms: number) => setTimeout(() => timeout.abort(new WorkerTimeout(timeoutMs)), ms)
  let timer = start(loadMs)
  port1.once('message', () => {
    clearTimeout(timer)
    timer = start(timeoutMs)
  })
  return {
    signal: AbortSignal.any([timeout.signal, ...others.filter(signal => signal !== undefined)]),
    loaded,
    clear() {
      clearTimeout(timer)
      port1.close()
    },
  }
}

/** Returns 0 on other systems, where niceness is that of the whole process, or means something else. */
function nicenessOfThreads(): number {
  return process.platform === 'linux' ? backgroundNiceness : 0
}

function hardLimitMb(memoryLimitMb: number): number {
  const limit = memoryLimitMb * hardLimitFactor
  return limit === generousFromMb ? limit - 1 : limit
}

async function killWhenTooLarge(thread: Worker, limit: number, log: Log): Promise<void> {
  for (;;) {
    await pause(memoryCheckMs, undefined, { ref: false })
    const heap = await thread.getHeapStatistics().catch(() => undefined)
    if (heap === undefined) return
    const held = heap.used_heap_size + heap.external_memory
    if (held <= limit) continue
    log.warn({ held, limit }, 'a worker thread held too much memory and was killed')
    await thread.terminate()
  }
}

/** Returns true for a thread's end: Piscina reports it by plain errors; only V8's own limit has a code. */
function isDeath(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? error.code : undefined
  return code === 'ERR_WORKER_OUT_OF_MEMORY' || /^worker exited with code/.test(error.message)
}
