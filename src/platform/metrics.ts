import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { replaceLagGauges } from './event-loop/lag-gauges.ts'

/** In milliseconds, and practically never: prom-client has no setting that leaves the lag of the event loop to others. */
const lagElsewhere = 2 ** 31 - 1

/** The numbers of one process, in Prometheus' text form. */
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
    // Not by model: its id is the caller's text, and each would be a series for ever.
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
    /** Reports of services are checked: a counter that is given nonsense would throw. */
    countTokens(
      provider: string,
      direction: 'input' | 'cached_input' | 'output' | 'estimated',
      tokens: number,
    ) {
      if (Number.isFinite(tokens) && tokens > 0) modelTokens.inc({ provider, direction }, tokens)
    },
    /** @param dollars that it cost */
    countModelCall(provider: string, dollars: number) {
      modelCalls.inc({ provider })
      modelCost.inc({ provider }, dollars)
    },
  }
}

export type Metrics = ReturnType<typeof createMetrics>
