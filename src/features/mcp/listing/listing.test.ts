import { expect, it } from 'vitest'
import { turnsDuring } from '#test/support/turns-during.ts'
import { createListing } from './listing.ts'

it('others have their turn while many tools are read', async () => {
  const listing = createListing(undefined)
  const page = Array.from({ length: 500 }, (_, index) => ({
    name: `tool-${index}`,
    inputSchema: { type: 'object' },
  }))
  expect(await turnsDuring(listing.take(page))).toBeGreaterThanOrEqual(20)
  expect(listing.tools()).toHaveLength(500)
})
