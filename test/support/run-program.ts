import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { compileCache } from './compile-cache.ts'

export interface Ending {
  /** Null after a signal. */
  code: number | null
  stdout: string
  stderr: string
}

/** In milliseconds; far more than a program takes that does not stay. */
const limit = 240_000

/** Runs a TypeScript file as a process of its own until it ends, with these environment variables and no others of ours. */
export async function runProgram(
  file: URL,
  environment: Record<string, string>,
  ...parameters: string[]
): Promise<Ending> {
  const child = spawn(process.execPath, [file.pathname, ...parameters], {
    env: { ...compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limit,
    killSignal: 'SIGKILL',
  })
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on('close', resolve).on('error', reject),
  )
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, stdout, stderr }
}
