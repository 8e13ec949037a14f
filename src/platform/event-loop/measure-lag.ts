import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How often the lag is measured, in milliseconds. */
const everyMs = 20

/** A measurement of the event loop's lag that is under way. */
export interface LagMeasurement {
  /** The median since the last call, in milliseconds. */
  read(): number
  stop(): void
}

export function measureLag(): LagMeasurement {
  const delays = monitorEventLoopDelay({ resolution: everyMs })
  delays.enable()
  return {
    read() {
      // Node counts the time from one measurement to the next, of which all but the lag was meant.
      const lag = delays.percentile(50) / 1e6 - everyMs
      delays.reset()
      return Math.max(0, lag)
    },
    stop: () => void delays.disable(),
  }
}
