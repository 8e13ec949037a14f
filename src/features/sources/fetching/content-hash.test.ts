import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { turnsDuring } from '#test/support/turns-during.ts'
import { contentHash } from './content-hash.ts'

it('is that of type and bytes together', async () => {
  const bytes = new Uint8Array(3_000_000).map((_, at) => at % 251)
  const whole = createHash('sha256').update('text/csv\n').update(bytes).digest('hex')
  expect(await contentHash({ bytes, contentType: 'text/csv' })).toBe(whole)
  expect(await contentHash({ bytes, contentType: 'text/plain' })).not.toBe(whole)
})

it('of the largest answer lets others go on meanwhile', async () => {
  const bytes = new Uint8Array(25 * 1024 * 1024)
  expect(await turnsDuring(contentHash({ bytes, contentType: '' }))).toBeGreaterThanOrEqual(20)
})
