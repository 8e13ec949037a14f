import { execFile } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { ResourceLimits, Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { AppError } from '../errors.ts'
import { createLog } from '../logging/log.ts'
import type { WorkerPool, WorkerTask } from './worker-pool.ts'
import { createWorkerPool, WorkerCrashed, WorkerTimeout } from './worker-pool.ts'

const tasks = `
import { AppError } from ${JSON.stringify(new URL('../errors.ts', import.meta.url).href)}
import { readlinkSync } from 'node:fs'
import { getPriority } from 'node:os'
import { basename } from 'node:path'
import { resourceLimits, threadId } from 'node:worker_threads'
export const double = number => number * 2
export const thread = () => threadId
export const niceness = () => getPriority(Number(basename(readlinkSync('/proc/thread-self'))))
export const limits = () => resourceLimits
export const fail = message => { throw new TypeError(message) }
export const refuse = () => {
  throw new AppError('STORAGE_FULL', 'Full.', { details: { bytes: 1 }, cause: new Error('beneath') })
}
export const hang = () => { for (;;) {} }
export const pause = ms => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms) }
export const meetPeers = ({ shared, expected }) => {
  const counters = new Int32Array(shared)
  const now = Atomics.add(counters, 0, 1) + 1
  if (now > Atomics.load(counters, 1)) Atomics.store(counters, 1, now)
  while (Atomics.load(counters, 1) < expected) pause(1)
  pause(30)
  Atomics.sub(counters, 0, 1)
}
export const waitFor = shared => void Atomics.wait(new Int32Array(shared), 0, 0)
export const hoardObjects = () => { const held = []; for (;;) held.push({ at: held.length }) }
export const hoardBuffers = () => { const held = []; for (;;) held.push(new Uint8Array(1_000_000).fill(1)) }
export const exit = () => process.exit(3)
`
const silent = createLog('silent')

let folder: string
let file: URL
let pool: WorkerPool | undefined

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'worker-pool-'))
  const path = join(folder, 'tasks.mjs')
  writeFileSync(path, tasks)
  file = pathToFileURL(path)
})

afterEach(async () => {
  await pool?.close()
  pool = undefined
})

afterAll(() => rmSync(folder, { recursive: true }))

function open(options: Partial<Parameters<typeof createWorkerPool>[0]> = {}): WorkerPool {
  pool = createWorkerPool({ log: silent, ...options })
  return pool
}

function task(name: string, argument?: unknown, rest: Partial<WorkerTask> = {}): WorkerTask {
  return { file, name, argument, ...rest }
}

test('an AppError arrives as one, and keeps what lies underneath', async () => {
  pool = createWorkerPool({ log: silent })
  const error = await pool.run<AppError>({ file, name: 'refuse', argument: null }).catch(thrown => thrown)
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({
    code: 'STORAGE_FULL',
    message: 'Full.',
    details: { bytes: 1 },
    isPermanent: false,
  })
  expect(error.cause).toMatchObject({ message: 'beneath' })
})

test('a task runs in another thread and answers', async () => {
  const { run } = open()
  expect(await run<number>(task('double', 21))).toBe(42)
  expect(await run<number>(task('thread'))).toBeGreaterThan(0)
})

test.runIf(process.platform === 'linux')(
  'threads of the background leave the processor to the event loop, others share it',
  async () => {
    const own = getPriority()
    expect(await open({ isBackground: true }).run<number>(task('niceness'))).toBe(Math.min(own + 10, 19))
    expect(getPriority()).toBe(own)
    await pool?.close()
    expect(await open().run<number>(task('niceness'))).toBe(own)
  },
)

test('an error thrown by the function reaches the caller as it is', async () => {
  const failed = open().run(task('fail', 'no such thing'))
  await expect(failed).rejects.toThrow(new TypeError('no such thing'))
})

test('a task that hangs is killed at its time-out, and what waited behind it runs', async () => {
  const { run } = open({ maxThreads: 1 })
  const hung = run(task('hang', undefined, { timeoutMs: 50 }))
  const waiting = run<number>(task('double', 4))
  await expect(hung).rejects.toThrow(WorkerTimeout)
  expect(await waiting).toBe(8)
})

test('the time-out counts from the start of the task, not from its queueing', async () => {
  const timeoutMs = 1_500
  const { run } = open({ maxThreads: 1 })
  const gate = new SharedArrayBuffer(4)
  const first = run(task('waitFor', gate))
  const second = run<number>(task('double', 2, { timeoutMs }))
  await pause(timeoutMs + 100)
  Atomics.store(new Int32Array(gate), 0, 1)
  Atomics.notify(new Int32Array(gate), 0)
  await first
  expect(await second).toBe(4)
})

test('the time-out does not count the loading of the module', async () => {
  const timeoutMs = 1_000
  const path = join(folder, 'slow.mjs')
  const wait = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${timeoutMs + 200})`
  writeFileSync(path, `${wait}\nexport const double = number => number * 2`)
  const slow = { ...task('double', 3, { timeoutMs }), file: pathToFileURL(path) }
  expect(await open().run<number>(slow)).toBe(6)
})

test('a thread that hoards objects is killed, and the pool goes on', async () => {
  const { run } = open({ memoryLimitMb: 64 })
  await expect(run(task('hoardObjects'))).rejects.toThrow(WorkerCrashed)
  expect(await run<number>(task('double', 1))).toBe(2)
})

test('a thread that hoards buffers, which V8 does not count, is killed before it takes much more', async () => {
  const { run } = open({ memoryLimitMb: 64 })
  const before = process.memoryUsage().rss
  await expect(run(task('hoardBuffers'))).rejects.toThrow(WorkerCrashed)
  expect(process.resourceUsage().maxRSS * 1024 - before).toBeLessThan(600_000_000)
  expect(await run<number>(task('double', 1))).toBe(2)
})

test('V8 collects the objects of a thread before they are many times what is in use, as it does below 2 GiB', async () => {
  const { maxOldGenerationSizeMb } = await open().run<ResourceLimits>(task('limits'))
  expect(maxOldGenerationSizeMb).toBeLessThan(2048)
  expect(maxOldGenerationSizeMb).toBeGreaterThan(2000)
})

test('a thread that ends itself is a crash, and the pool goes on', async () => {
  const { run } = open()
  await expect(run(task('exit'))).rejects.toThrow(WorkerCrashed)
  expect(await run<number>(task('double', 1))).toBe(2)
})

test('the signal of the caller kills a running task and refuses a waiting one, each with its reason', async () => {
  const { run } = open({ maxThreads: 1 })
  const [running, waiting] = [new AbortController(), new AbortController()]
  const first = run(task('hang', undefined, { signal: running.signal }))
  const second = run(task('double', 1, { signal: waiting.signal }))
  waiting.abort(new Error('not needed any more'))
  await expect(second).rejects.toThrow('not needed any more')
  running.abort(new Error('source deleted'))
  await expect(first).rejects.toThrow('source deleted')
  expect(await run<number>(task('double', 5))).toBe(10)
})

test('no more threads work at once than allowed', async () => {
  const { run } = open({ maxThreads: 2 })
  const shared = new SharedArrayBuffer(8)
  // Nobody goes on before as many are there as may be.
  await Promise.all(Array.from({ length: 6 }, () => run(task('meetPeers', { shared, expected: 2 }))))
  expect(new Int32Array(shared)[1]).toBe(2)
})

test('a thread without work ends', async () => {
  const { run } = open({ idleTimeoutMs: 1 })
  const first = await run<number>(task('thread'))
  await eventually(async () => expect(await run<number>(task('thread'))).not.toBe(first))
})

test('close kills what runs, refuses what waits and what comes, and leaves nothing that keeps the process alive', async () => {
  const script = `
    import { createWorkerPool } from ${JSON.stringify(new URL('./worker-pool.ts', import.meta.url).href)}
    import { createLog } from ${JSON.stringify(new URL('../logging/log.ts', import.meta.url).href)}
    const pool = createWorkerPool({ maxThreads: 1, log: createLog('silent') })
    const file = new URL(${JSON.stringify(file.href)})
    await pool.run({ file, name: 'double', argument: 1 })
    const told = name => pool.run({ file, name }).catch(error => error.code)
    const ends = [told('hang'), told('double')]
    await pool.close()
    console.log(JSON.stringify(await Promise.all([...ends, told('double')])))
  `
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  expect(JSON.parse(stdout)).toEqual(['SHUTTING_DOWN', 'SHUTTING_DOWN', 'SHUTTING_DOWN'])
})

test('close ends the threads that have no work, too', async () => {
  const threads: Worker[] = []
  const note = (message: unknown) => threads.push((message as { worker: Worker }).worker)
  subscribe('worker_threads', note)
  const { run, close } = open()
  await run(task('double', 1))
  unsubscribe('worker_threads', note)
  expect(threads.map(thread => thread.threadId > 0)).toEqual([true])
  await close()
  expect(threads.map(thread => thread.threadId)).toEqual([-1])
})

test('close of a pool that never ran anything is fine', async () => {
  await expect(open().close()).resolves.toBeUndefined()
})
