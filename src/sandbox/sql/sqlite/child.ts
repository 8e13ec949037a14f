import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Answer, FromChild, ToChild } from './messages.ts'

/** A process that runs one statement at a time, until it is ended or ends. */
export interface Child {
  /** The database that it has open, if any. */
  path: string | undefined
  /** Resolves once it takes statements; never if it ends before. */
  ready: Promise<void>
  /** Rejects if the process ends before it has answered. */
  ask(message: ToChild): Promise<Answer>
  /** At once, whatever it does. */
  kill(): void
}

const sources = fileURLToPath(new URL('../../../', import.meta.url))
const program = fileURLToPath(new URL('console.worker.ts', import.meta.url))
/** Megabytes of rows on their way; what SQLite itself takes is bounded elsewhere. */
const heapLimit = 128

const flags = [
  '--no-warnings',
  // Of files its own sources are all that JavaScript may read there; it may write none, and start no other process.
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
    const asked = waiting
    waiting = undefined
    return asked
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
  letGo(process)
  const child: Child = {
    path: undefined,
    ready: started.promise,
    ask(message) {
      waiting = Promise.withResolvers()
      child.path = message.path
      process.send(message, error => {
        if (error) settle()?.reject(error)
      })
      return waiting.promise
    },
    kill: () => void process.kill('SIGKILL'),
  }
  return child
}

/** It does not keep this process alive, but ends with it: the pipe that it reads from closes then. */
function letGo(process: ChildProcess): void {
  process.unref()
  process.channel?.unref()
  const lifeline = process.stdio[4]
  lifeline?.on('error', () => {})
  if (lifeline && 'unref' in lifeline && typeof lifeline.unref === 'function') lifeline.unref()
}
