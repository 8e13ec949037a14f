import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { replaceLagGauges } from './event-loop/lag-gauges.ts'

/** Practically infinite interval (ms): prom-client has no setting to leave out the lag of the event loop. */
const lagElsewhere = 2 ** 31 - 1

/** Creates the metrics of one process, in Prometheus' text form. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagElsewhere })
  const lag = replaceLagGauges(registry)
  const requestSeconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [registry],
  })
  const modelTokens = new Counter({
    name: 'model_tokens_total',
    help: 'Tokens that model services reported, cached_input within input; estimated where they reported none.',
    // Not by model: its id is the caller's text, and each would be a permanent series.
    labelNames: ['provider', 'direction'],
    registers: [registry],
  })
  const modelCalls = new Counter({
    name: 'model_calls_total',
    help: 'Calls of models in the turns of agents.',
    labelNames: ['provider'],
    registers: [registry],
  })
  const modelCost = new Counter({
    name: 'model_cost_usd_total',
    help: 'US dollars of those whose price is known.',
    labelNames: ['provider'],
    registers: [registry],
  })
  return {
    contentType: registry.contentType,
    text() {
      lag.read()
      return registry.metrics()
    },
    observeRequest(method: string, route: string, status: number, seconds: number) {
      requestSeconds.observe({ method, route, status }, seconds)
    },
    /** Checks numbers from services: a counter would throw on nonsense. */
    countTokens(
      provider: string,
      direction: 'input' | 'cached_input' | 'output' | 'estimated',
      tokens: number,
    ) {
      if (Number.isFinite(tokens) && tokens > 0) modelTokens.inc({ provider, direction }, tokens)
    },
    /** @param dollars its cost */
    countModelCall(provider: string, dollars: number) {
      modelCalls.inc({ provider })
      modelCost.inc({ provider }, dollars)
    },
  }
}

export type Metrics = ReturnType<typeof createMetrics>
