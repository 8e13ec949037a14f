import type { Worker } from 'node:worker_threads'
import { configurationOrExit, exitBecause, failed } from './exit.ts'

/** After this time a closing service is ended, whatever still runs: in milliseconds, less than the 10 s promised. */
const closingLimitMs = 9500

/** Those that have not ended, also where whoever started them no longer waits for that. */
const threads = new Set<Worker>()
process.on('worker', thread => {
  threads.add(thread)
  thread.once('exit', () => threads.delete(thread))
})

const configuration = configurationOrExit()
const { start } = await import('./start.ts')
const service = await start(configuration).catch(error => exitBecause('agentstead could not start', error))

async function close(): Promise<number> {
  const code = await service.close().then(
    () => 0,
    () => failed,
  )
  // `process.exit` would wait for them, and nothing ends a process that does.
  await Promise.all(Array.from(threads, thread => thread.terminate()))
  return code
}

let isClosing = false
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    if (isClosing) return
    isClosing = true
    // Nothing else ends a thread that is busy in native code. What is stored survives it as it does any crash.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), closingLimitMs).unref()
    void close().then(code => process.exit(code))
  })
