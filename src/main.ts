import { enableCompileCache } from 'node:module'
import { readConfiguration } from './config.ts'

/** Exit codes: 1 the service could not start or failed, 2 the configuration is wrong. */
const failed = 1
const misconfigured = 2

/** After this time a closing service is ended, whatever still runs: in milliseconds, less than the 10 s promised. */
const closingLimitMs = 9500

const result = readConfiguration()
if ('problems' in result) {
  process.stderr.write(
    `The configuration is wrong:\n${result.problems.map(problem => `  - ${problem}\n`).join('')}`,
  )
  process.exit(misconfigured)
}
// Compiled code is kept beside the package, which halves the time of every later start.
enableCompileCache(new URL('../node_modules/.cache/agentstead', import.meta.url).pathname)
const { start } = await import('./start.ts')
const service = await start(result.configuration).catch((error: unknown) => {
  process.stderr.write(
    `agentstead could not start: ${error instanceof Error ? error.message : String(error)}\n`,
  )
  process.exit(failed)
})

let isClosing = false
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    if (isClosing) return
    isClosing = true
    setTimeout(() => process.exit(failed), closingLimitMs).unref()
    service.close().then(
      () => process.exit(0),
      () => process.exit(failed),
    )
  })
