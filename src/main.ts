import { configurationOrExit, exitBecause, failed } from './exit.ts'

/** After this time a closing service is ended, whatever still runs: in milliseconds, less than the 10 s promised. */
const closingLimitMs = 9500

const configuration = configurationOrExit()
const { start } = await import('./start.ts')
const service = await start(configuration).catch(error => exitBecause('agentstead could not start', error))

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
