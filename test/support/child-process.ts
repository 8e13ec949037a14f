import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

export interface Program {
  /** The next line that the program prints; fails when it ends before. */
  line(): Promise<string>
  /** As a crash: kill -9, and waits for the end. */
  kill(): Promise<void>
  /** Waits for the end; the exit code, null after a signal. */
  ended: Promise<number | null>
}

/** Runs a TypeScript file as a process of its own, which is gone when the running test has finished. */
export function startProgram(file: URL, ...parameters: string[]): Program {
  const child = spawn(process.execPath, [file.pathname, ...parameters])
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const errors = collect(child)
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  return {
    ended,
    kill,
    async line() {
      const { value, done } = await lines.next()
      if (done) throw new Error(`the program ended early: ${errors.join('')}`)
      return value
    },
  }
}

function collect(child: ChildProcessWithoutNullStreams): string[] {
  const chunks: string[] = []
  child.stderr.setEncoding('utf8').on('data', chunk => chunks.push(chunk))
  return chunks
}
