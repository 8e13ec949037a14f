import { expect, it } from 'vitest'
import { createApiReference } from './api-reference.ts'

it('each file of the page is written once, whoever asks for it', async () => {
  const reference = createApiReference('/docs', '/openapi.json')
  const script = await reference.read('/docs/js/scalar.js')
  expect(script?.body.length).toBeGreaterThan(1_000_000)
  expect(await reference.read('/docs/js/scalar.js')).toBe(script)
})
