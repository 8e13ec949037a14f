import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Interval of measuring the lag (ms). */
const everyMs = 20

/** A running measurement of the event loop's lag. */
export interface LagMeasurement {
  /** Returns the median since the last call (ms). */
  read(): number
  stop(): void
}

export function measureLag(): LagMeasurement {
  const delays = monitorEventLoopDelay({ resolution: everyMs })
  delays.enable()
  return {
    read() {
      // Node counts the time between two measurements, of which all but the lag was intended.
      const lag = delays.percentile(50) / 1e6 - everyMs
      delays.reset()
      return Math.max(0, lag)
    },
    stop: () => void delays.disable(),
  }
}
