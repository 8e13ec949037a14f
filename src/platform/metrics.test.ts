import { expect, it } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { createMetrics } from './metrics.ts'

it('counts requests and their seconds by method, route and status', async () => {
  const metrics = createMetrics()
  metrics.observeRequest('GET', '/api/agents', 200, 0.01)
  metrics.observeRequest('GET', '/api/agents', 200, 3)
  const text = await metrics.text()
  const labels = 'method="GET",route="/api/agents",status="200"'
  expect(text).toContain(`http_request_duration_seconds_count{${labels}} 2`)
  expect(text).toContain(`http_request_duration_seconds_sum{${labels}} 3.01`)
  expect(text).toContain(`http_request_duration_seconds_bucket{le="0.02",${labels}} 1`)
})

it('adds tokens up by provider and direction, and passes over what no count can be', async () => {
  const metrics = createMetrics()
  for (const tokens of [10, 5, -7, Number.NaN, Number.POSITIVE_INFINITY])
    metrics.countTokens('openai', 'input', tokens)
  metrics.countTokens('openai', 'output', 1)
  const text = await metrics.text()
  expect(text).toContain('model_tokens_total{provider="openai",direction="input"} 15')
  expect(text).toContain('model_tokens_total{provider="openai",direction="output"} 1')
})

it('tells of the process itself, apart from every other instance', async () => {
  const metrics = createMetrics()
  createMetrics().observeRequest('GET', '/elsewhere', 200, 1)
  const text = await metrics.text()
  expect(metrics.contentType).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
  expect(text).not.toContain('/elsewhere')
})

it('tells the lag of the event loop without the time that lies between two measurements', async () => {
  const metrics = createMetrics()
  const lagOf = async (name: string) => {
    const text = await metrics.text()
    return Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (.+)$`, 'm').exec(text)?.[1])
  }
  // A loop that has nothing to do lags a little at most; at first there is no measurement, which reads as 0.
  await eventually(async () => expect(await lagOf('min')).toBeGreaterThan(0))
  await eventually(async () => expect(await lagOf('p50')).toBeLessThan(0.03))
  // What is measured begins only after the first measurement that follows a scrape.
  const seen = async () => {
    const until = performance.now() + 300
    while (performance.now() < until);
    expect(await lagOf('max')).toBeGreaterThan(0.2)
  }
  await eventually(seen)
})
