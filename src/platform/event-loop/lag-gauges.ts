import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Registry } from 'prom-client'
import { Gauge } from 'prom-client'

/** How often the lag of the event loop is measured, in milliseconds: much oftener, and an idle process never sleeps long. */
const everyMs = 50
const everyNs = everyMs * 1e6

type Delays = ReturnType<typeof monitorEventLoopDelay>

/** In nanoseconds. What Node measures is the time from one measurement to the next, of which all but the lag was meant. */
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

/** Puts gauges of the lag in the place of prom-client's, which count the time between two measurements as lag. */
export function replaceLagGauges(registry: Registry) {
  const delays = monitorEventLoopDelay({ resolution: everyMs })
  delays.enable()
  const gauges = Object.entries(statistics).map(([name, { help, of }]) => {
    const fullName = `nodejs_eventloop_lag_${name}_seconds`
    registry.removeSingleMetric(fullName)
    return { gauge: new Gauge({ name: fullName, help, registers: [registry] }), of }
  })
  return {
    /** Fills the gauges with what was measured since the last call; without a measurement they stay. */
    read() {
      if (delays.count === 0) return
      for (const { gauge, of } of gauges) gauge.set(of(delays) / 1e9)
      delays.reset()
    },
  }
}
