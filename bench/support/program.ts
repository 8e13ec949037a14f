import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** A process of its own that has said that it is ready. Measured on Linux only: the figures come from `/proc`. */
export interface Program extends AsyncDisposable {
  /** The address in the line that it printed when it was ready; empty without one. */
  readonly address: string
  readonly pid: number
  /** Milliseconds from the start of the process to that line. */
  readonly readyAfter: number
  /** Processor time of all its threads so far, in milliseconds, counted in steps of 10. */
  processorTime(): number
  /** Memory that it holds, in MB. */
  residentMemory(): number
  /** Ends it as an operator does, and waits for its end. */
  stop(): Promise<void>
}

interface ProgramOptions {
  /** Flags for Node, the file and its parameters. */
  parameters: readonly string[]
  environment?: Record<string, string>
  /** The tree that it is run from; by default this one. */
  root?: string
}

const ownRoot = new URL('../../', import.meta.url).pathname
const clockTickMs = 10
const bytesPerMegabyte = 1e6
const stopLimitMs = 12_000

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/** Starts a program that prints one line once it is ready. It sees nothing of this process's environment but `NODE_OPTIONS`. */
export async function startProgram({
  parameters,
  environment = {},
  root = ownRoot,
}: ProgramOptions): Promise<Program> {
  const { PATH = '', NODE_OPTIONS = '' } = process.env
  const begun = performance.now()
  const child = spawn(process.execPath, parameters, {
    cwd: root,
    env: { PATH, NODE_OPTIONS, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
  const ended = once(child, 'exit').then(() => running.delete(child))
  const line = await firstLine(child)
  const readyAfter = performance.now() - begun
  const stop = async () => {
    const limit = setTimeout(() => child.kill('SIGKILL'), stopLimitMs)
    child.kill('SIGTERM')
    await ended
    clearTimeout(limit)
  }
  return {
    pid: child.pid ?? 0,
    address: /http:\S+/.exec(line)?.[0] ?? '',
    readyAfter,
    processorTime: () => processorTimeOf(child.pid),
    residentMemory: () => residentMemoryOf(child.pid),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** The first that is no entry of a log. The others are warnings, which a benchmark must not hide. */
async function firstLine({ stdout, pid }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the program has no standard output')
  const lines = createInterface(stdout)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let isReady = false
  lines.on('line', line => {
    if (isReady || line.startsWith('{')) console.error(line)
    else resolve(line)
    isReady ||= !line.startsWith('{')
  })
  lines.once('close', () => reject(new Error(`process ${pid} ended before it was ready`)))
  return promise
}

/** See proc_pid_stat(5): fields 14 and 15, counted behind the name, which may hold spaces. */
function processorTimeOf(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * clockTickMs
}

function residentMemoryOf(pid: number | undefined): number {
  const [, kibibytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (Number(kibibytes) * 1024) / bytesPerMegabyte
}
