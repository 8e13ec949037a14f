import { expect, it } from 'vitest'
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
