import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Gauge, type Registry } from 'prom-client'

/** Interval of measuring the event loop's lag (ms): a much shorter one keeps an idle process awake. */
const everyMs = 50
const everyNs = everyMs * 1e6

type Delays = ReturnType<typeof monitorEventLoopDelay>

/** The statistics (ns). Node measures the time between measurements, of which all but the lag is intended. */
const statistics: Record<string, { help: string; of: (delays: Delays) => number }> = {
  min: { help: 'The least lag of the event loop since the last scrape.', of: ({ min }) => lag(min) },
  max: { help: 'The greatest lag of the event loop since the last scrape.', of: ({ max }) => lag(max) },
  mean: { help: 'The mean lag of the event loop since the last scrape.', of: ({ mean }) => lag(mean) },
  stddev: { help: 'The standard deviation of the lag since the last scrape.', of: ({ stddev }) => stddev },
  p50: { help: 'The 50th percentile of the lag since the last scrape.', of: percentile(50) },
  p90: { help: 'The 90th percentile of the lag since the last scrape.', of: percentile(90) },
  p99: { help: 'The 99th percentile of the lag since the last scrape.', of: percentile(99) },
}

function percentile(share: number) {
  return (delays: Delays) => lag(delays.percentile(share))
}

function lag(delay: number): number {
  return Math.max(0, delay - everyNs)
}

/** Replaces prom-client's gauges of the lag, which count the time between two measurements as lag. */
export function replaceLagGauges(registry: Registry) {
  const delays = monitorEventLoopDelay({ resolution: everyMs })
  delays.enable()
  const gauges = Object.entries(statistics).map(([name, { help, of }]) => {
    const fullName = `nodejs_eventloop_lag_${name}_seconds`
    registry.removeSingleMetric(fullName)
    return { gauge: new Gauge({ name: fullName, help, registers: [registry] }), of }
  })
  return {
    /** Fills the gauges with the measurements since the last call; without one they stay. */
    read() {
      if (delays.count === 0) return
      for (const { gauge, of } of gauges) gauge.set(of(delays) / 1e9)
      delays.reset()
    },
  }
}
