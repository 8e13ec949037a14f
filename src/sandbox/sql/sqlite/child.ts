import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Answer, FromChild, ToChild } from './messages.ts'

/** A process that runs one statement at a time, until it ends or is killed. */
export interface Child {
  /** The open database, if any. */
  path: string | undefined
  /** Resolves once the process accepts statements; never if it ends before. */
  ready: Promise<void>
  /** Rejects if the process ends before it has answered, or could not be started. */
  request(message: ToChild): Promise<Answer>
  /** Kills the process immediately, in any state. */
  kill(): void
}

const sources = fileURLToPath(new URL('../../../', import.meta.url))
const program = fileURLToPath(new URL('console.worker.ts', import.meta.url))
/** Max megabytes for rows in transit; SQLite's own memory is limited elsewhere. */
const heapLimit = 128

const flags = [
  '--no-warnings',
  // JavaScript there may read only its own sources, write no files, and start no other process.
  '--permission',
  '--allow-worker',
  `--allow-fs-read=${sources}*`,
  `--max-old-space-size=${heapLimit}`,
  '--max-semi-space-size=4',
]

export function startChild(synchronous: string, onEnd: () => void): Child {
  const process = spawn(globalThis.process.execPath, [...flags, program, synchronous], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
    serialization: 'advanced',
  })
  let waiting: PromiseWithResolvers<Answer> | undefined
  const started = Promise.withResolvers<void>()
  const settle = () => {
    const pending = waiting
    waiting = undefined
    return pending
  }
  const end = () => {
    settle()?.reject(new Error('the process has ended'))
    onEnd()
  }
  process.on('message', (message: FromChild) => {
    if (message === 'ready') started.resolve()
    else settle()?.resolve(message)
  })
  process.once('exit', end)
  process.once('error', end)
  if (process.pid !== undefined) letGo(process)
  const child: Child = {
    path: undefined,
    ready: started.promise,
    request(message) {
      const pending = Promise.withResolvers<Answer>()
      waiting = pending
      child.path = message.path
      // A process that failed to start has no channel; `end` is called for it soon.
      if (process.pid !== undefined)
        process.send(message, error => {
          if (error) settle()?.reject(error)
        })
      return pending.promise
    },
    kill: () => void process.kill('SIGKILL'),
  }
  return child
}

/** Frees this process from it; it ends with this one, because the pipe that it reads from then closes. */
function letGo(process: ChildProcess): void {
  process.unref()
  process.channel?.unref()
  const lifeline = process.stdio[4]
  lifeline?.on('error', () => {})
  if (lifeline && 'unref' in lifeline && typeof lifeline.unref === 'function') lifeline.unref()
}
