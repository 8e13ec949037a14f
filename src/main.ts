import type { Worker } from 'node:worker_threads'
import type { Service } from './app.ts'
import { configurationOrExit, exitBecause, failed } from './exit.ts'
import { handleUncaughtErrors } from './platform/uncaught-errors.ts'

/** After this time a closing service is ended, with all that still runs: in milliseconds, less than the 10 s promised. */
const closingLimitMs = 9500

/** Those that have not ended, also where their callers no longer wait for that. */
const threads = new Set<Worker>()
process.on('worker', thread => {
  threads.add(thread)
  thread.once('exit', () => threads.delete(thread))
})

const configuration = configurationOrExit()
let service: Service | undefined
let isClosing = false
handleUncaughtErrors(
  () => service?.infrastructure.log,
  error => {
    if (service === undefined) exitBecause('agentstead could not start', error)
    end('failing')
  },
)
const { start } = await import('./start.ts')
await start(configuration, built => {
  service = built
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end('stopping'))
}).catch(error => {
  // One that is ended while it begins to listen exits by itself.
  if (!isClosing) exitBecause('agentstead could not start', error)
})

async function close(reason: 'stopping' | 'failing'): Promise<number> {
  const ended = service?.close(reason) ?? Promise.resolve()
  const code = await ended.then(
    () => (reason === 'stopping' ? 0 : failed),
    () => failed,
  )
  // `process.exit` would wait for them, and nothing ends a process that does.
  await Promise.all(Array.from(threads, thread => thread.terminate()))
  return code
}

function end(reason: 'stopping' | 'failing'): void {
  if (isClosing) return
  isClosing = true
  // Nothing else ends a thread that is busy in native code. What is stored survives it as it does any crash.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), closingLimitMs).unref()
  void close(reason).then(code => process.exit(code))
}
