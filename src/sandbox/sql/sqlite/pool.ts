/**
 * The processes that run statements: a few for all agents, each with the database open that it was last used for. One that
 * has run for too long is killed, and the next statement gets another.
 */
import { AppError } from '#platform/errors.ts'
import { timeLimit } from '../limits.ts'
import { problemError, timedOut } from '../problem.ts'
import type { SqlResult, SqlStatement } from '../sql-runner.ts'
import type { Child } from './child.ts'
import { startChild } from './child.ts'

export interface PoolOptions {
  synchronous: string
  /** Processes at a time. */
  size?: number
  /** Statements of one agent at a time: its runaways leave processes to others. */
  perAgent?: number
  /** Milliseconds after which a process that nobody uses ends. */
  idle?: number
  limit?: number
}

export interface Pool {
  run(path: string, statement: SqlStatement, signals: readonly AbortSignal[]): Promise<SqlResult>
  /** Ends what has this database open. */
  leave(path: string, reason: unknown): void
  close(): void
}

const mostWaiting = 500
/** Milliseconds. */
const patience = 10_000
const startLimit = 10_000

interface Task {
  path: string
  statement: SqlStatement
  answer: PromiseWithResolvers<SqlResult>
  giveUp: NodeJS.Timeout
  /** There while it runs. */
  stop?: ((error: unknown) => void) | undefined
}

interface Running {
  path: string
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
  readonly #waiting = new Set<Task>()
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = { size: 4, perAgent: 2, idle: 60_000, limit: timeLimit, ...options }
  }

  async run(path: string, statement: SqlStatement, signals: readonly AbortSignal[]): Promise<SqlResult> {
    if (this.#closed)
      throw new AppError('SHUTTING_DOWN', 'The server is shutting down. Try again in a moment.')
    for (const signal of signals) signal.throwIfAborted()
    if (this.#waiting.size >= mostWaiting) throw tooMany()
    const answer = Promise.withResolvers<SqlResult>()
    const task: Task = {
      path,
      statement,
      answer,
      giveUp: setTimeout(() => this.#cancel(task, tooMany()), patience),
    }
    this.#waiting.add(task)
    const stops = signals.map(signal => {
      const stop = () => this.#cancel(task, signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      return () => signal.removeEventListener('abort', stop)
    })
    this.#dispatch()
    try {
      return await answer.promise
    } finally {
      for (const forget of stops) forget()
    }
  }

  leave(path: string, reason: unknown): void {
    for (const { path: used, stop } of [...this.#running.values()]) if (used === path) stop(reason)
    for (const child of [...this.#idle.keys()]) if (child.path === path) this.#end(child)
  }

  close(): void {
    this.#closed = true
    const error = new AppError('SHUTTING_DOWN', 'The server is shutting down. Try again in a moment.')
    for (const task of [...this.#waiting]) this.#cancel(task, error)
    for (const { stop } of [...this.#running.values()]) stop(error)
    for (const child of [...this.#children]) this.#end(child)
  }

  /** Gives each statement that may run a process, in order. */
  #dispatch(): void {
    for (const task of this.#waiting) {
      if (this.#running.size >= this.#options.size) return
      if (this.#runningOn(task.path) >= this.#options.perAgent) continue
      this.#start(task, this.#childFor(task.path))
    }
  }

  #runningOn(path: string): number {
    let count = 0
    for (const running of this.#running.values()) if (running.path === path) count += 1
    return count
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

  #start(task: Task, child: Child): void {
    this.#waiting.delete(task)
    clearTimeout(task.giveUp)
    const { answer, path, statement } = task
    const stop = (error: unknown) => {
      answer.reject(error)
      this.#end(child)
    }
    let timer = setTimeout(() => stop(problemError(ended)), startLimit)
    this.#running.set(child, { path, stop })
    task.stop = stop
    const free = () => {
      task.stop = undefined
      clearTimeout(timer)
      this.#running.delete(child)
    }
    // A machine under load takes its time to start a process: that is not the statement's.
    void child.ready.then(() => {
      clearTimeout(timer)
      if (task.stop === undefined) return
      timer = setTimeout(() => stop(problemError(timedOut(this.#options.limit))), this.#options.limit)
    })
    child.ask({ path, statement }).then(
      outcome => {
        free()
        this.#rest(child)
        if ('result' in outcome) answer.resolve(outcome.result)
        else answer.reject(problemError(outcome.problem))
        this.#dispatch()
      },
      error => {
        free()
        answer.reject(problemError(ended, error))
        this.#end(child)
        this.#dispatch()
      },
    )
  }

  #cancel(task: Task, error: unknown): void {
    clearTimeout(task.giveUp)
    if (this.#waiting.delete(task)) task.answer.reject(error)
    else task.stop?.(error)
  }

  #rest(child: Child): void {
    if (this.#closed || !this.#children.has(child)) return
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

function tooMany(): AppError {
  return new AppError('SQL_FAILED', 'Too many statements are waiting to run. Try again in a moment.')
}
