/**
 * The processes that run statements: a few for all agents, each with its last database open. A process that
 * runs for too long is killed, and the next statement gets another.
 */
import { AppError } from '#platform/errors.ts'
import { createFairSlots, type FairSlots } from '#platform/workers/fair-slots.ts'
import { timeLimit } from '../limits.ts'
import { problemError, timedOut } from '../problem.ts'
import { SqlBusy } from '../sql-busy.ts'
import type { SqlResult, SqlStatement } from '../sql-runner.ts'
import { type Child, startChild } from './child.ts'
import type { Answer, ToChild } from './messages.ts'

export interface PoolOptions {
  synchronous: string
  /** Max processes at a time. */
  size?: number
  /** Max concurrent statements of one agent, so that its runaways leave processes to others. */
  perAgent?: number
  /** Time after which an idle process ends (ms). */
  idle?: number
  limit?: number
}

export interface PoolStatement extends SqlStatement {
  /** True if it can hold the write lock. */
  writes: boolean
}

export interface Pool {
  run(path: string, statement: PoolStatement, signals: readonly AbortSignal[]): Promise<SqlResult>
  /** Stops statements that might have held the write lock of this database for a while. */
  giveWay(path: string): void
  /** Ends processes that have this database open. */
  leave(path: string, reason: unknown): void
  close(): void
}

/** Max waiting statements of one agent. */
const maxWaiting = 500
/** Milliseconds. */
const timeout = 10_000
const startLimit = 10_000
/** Min age of a statement that could have blocked others (ms). */
const minHold = 500

interface Running {
  path: string
  writes: boolean
  /** Time of `performance.now()`. */
  since: number
  stop(error: unknown): void
}

export function createPool(options: PoolOptions): Pool {
  return new ProcessPool(options)
}

class ProcessPool implements Pool {
  readonly #options: Required<PoolOptions>
  readonly #children = new Set<Child>()
  readonly #idle = new Map<Child, NodeJS.Timeout>()
  readonly #running = new Map<Child, Running>()
  readonly #slots: FairSlots
  /** By database, controllers that abort the statements that wait for a process. */
  readonly #waiting = new Map<string, Set<AbortController>>()
  readonly #closing = new AbortController()

  constructor(options: PoolOptions) {
    this.#options = { size: 4, perAgent: 2, idle: 60_000, limit: timeLimit, ...options }
    this.#slots = createFairSlots(this.#options.size, this.#options.perAgent)
  }

  async run(path: string, statement: PoolStatement, signals: readonly AbortSignal[]): Promise<SqlResult> {
    const signal = AbortSignal.any([this.#closing.signal, ...signals])
    const release = await this.#takeSlot(path, signal)
    try {
      return await this.#runOn(this.#childFor(path), path, statement, signal)
    } finally {
      release()
    }
  }

  giveWay(path: string): void {
    const latest = performance.now() - minHold
    for (const { path: used, writes, since, stop } of [...this.#running.values()])
      if (used === path && writes && since < latest) stop(problemError(inTheWay))
  }

  leave(path: string, reason: unknown): void {
    for (const waiting of this.#waiting.get(path) ?? []) waiting.abort(reason)
    for (const { path: used, stop } of [...this.#running.values()]) if (used === path) stop(reason)
    for (const child of [...this.#idle.keys()]) if (child.path === path) this.#end(child)
  }

  close(): void {
    this.#closing.abort(new AppError('SHUTTING_DOWN', 'The server is shutting down. Try again in a moment.'))
    for (const child of [...this.#children]) this.#end(child)
  }

  async #runOn(
    child: Child,
    path: string,
    { writes, ...statement }: PoolStatement,
    signal: AbortSignal,
  ): Promise<SqlResult> {
    const stop = Promise.withResolvers<never>()
    const running = {
      path,
      writes,
      since: performance.now(),
      stop: (error: unknown) => {
        stop.reject(error)
        this.#end(child)
      },
    }
    const abort = () => running.stop(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    this.#running.set(child, running)
    try {
      signal.throwIfAborted()
      const outcome = await Promise.race([stop.promise, this.#request(child, { path, statement }, running)])
      if ('problem' in outcome) throw problemError(outcome.problem)
      return outcome.result
    } finally {
      signal.removeEventListener('abort', abort)
      this.#running.delete(child)
      this.#rest(child)
    }
  }

  async #takeSlot(path: string, signal: AbortSignal): Promise<() => void> {
    const waiting = this.#waiting.get(path) ?? new Set()
    if (waiting.size >= maxWaiting) throw new SqlBusy()
    const own = new AbortController()
    this.#waiting.set(path, waiting.add(own))
    const giveUp = setTimeout(() => own.abort(new SqlBusy()), timeout)
    try {
      const release = await this.#slots.take(path, AbortSignal.any([signal, own.signal]))
      if (!own.signal.aborted) return release
      release()
      throw own.signal.reason
    } finally {
      clearTimeout(giveUp)
      waiting.delete(own)
      if (waiting.size === 0) this.#waiting.delete(path)
    }
  }

  #childFor(path: string): Child {
    const idle = [...this.#idle.keys()]
    const child =
      idle.find(one => one.path === path) ?? (this.#children.size < this.#options.size ? undefined : idle[0])
    if (child === undefined) return this.#startChild()
    clearTimeout(this.#idle.get(child))
    this.#idle.delete(child)
    return child
  }

  #startChild(): Child {
    const child = startChild(this.#options.synchronous, () => {
      clearTimeout(this.#idle.get(child))
      this.#idle.delete(child)
      this.#children.delete(child)
    })
    this.#children.add(child)
    return child
  }

  async #request(child: Child, message: ToChild, { stop }: Running): Promise<Answer> {
    const { limit } = this.#options
    let timer = setTimeout(() => stop(problemError(ended)), startLimit)
    // The start of a process, slow on a busy machine, does not count as the statement's time.
    void child.ready.then(() => {
      clearTimeout(timer)
      if (this.#running.has(child)) timer = setTimeout(() => stop(problemError(timedOut(limit))), limit)
    })
    try {
      return await child.request(message)
    } catch (error) {
      this.#end(child)
      throw problemError(ended, error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Returns a process to the pool, unless it was killed. */
  #rest(child: Child): void {
    if (!this.#children.has(child)) return
    this.#idle.set(child, setTimeout(() => this.#end(child), this.#options.idle).unref())
  }

  #end(child: Child): void {
    clearTimeout(this.#idle.get(child))
    this.#idle.delete(child)
    this.#children.delete(child)
    child.kill()
  }
}

const ended = {
  kind: 'failed',
  message: 'The process of the statement ended, most likely for want of memory. Ask for less at once.',
} as const

const inTheWay = {
  kind: 'failed',
  message: 'The statement was stopped: it kept the agent itself from writing. Change fewer rows at once.',
} as const
