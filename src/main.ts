import type { Worker } from 'node:worker_threads'
import type { Service } from './app.ts'
import { configurationOrExit, exitBecause, failed } from './exit.ts'
import { handleUncaughtErrors } from './platform/uncaught-errors.ts'

/** Time after which a closing service is killed with all running work (ms), less than the 10 s promised. */
const closingLimitMs = 9500

/** The running threads, including those whose callers no longer wait for their end. */
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
  // A service that is stopped while it begins to listen exits by itself.
  if (!isClosing) exitBecause('agentstead could not start', error)
})

async function close(reason: 'stopping' | 'failing'): Promise<number> {
  const ended = service?.close(reason) ?? Promise.resolve()
  const code = await ended.then(
    () => (reason === 'stopping' ? 0 : failed),
    () => failed,
  )
  // `process.exit` would wait for threads, and nothing ends a waiting process.
  await Promise.all(Array.from(threads, thread => thread.terminate()))
  return code
}

function end(reason: 'stopping' | 'failing'): void {
  if (isClosing) return
  isClosing = true
  // Nothing else ends a thread that is busy in native code. Stored data survives this like any crash.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), closingLimitMs).unref()
  void close(reason).then(code => process.exit(code))
}
