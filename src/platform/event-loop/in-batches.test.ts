import { expect, test } from 'vitest'
import { mapInBatches } from './in-batches.ts'

test('others get their turn between batches, and only there', async () => {
  const happened: string[] = []
  setImmediate(() => happened.push('other'))
  const results = await mapInBatches(['a', 'b', 'c'], 2, value => {
    happened.push(value)
    return value.toUpperCase()
  })
  expect(results).toEqual(['A', 'B', 'C'])
  expect(happened).toEqual(['a', 'b', 'other', 'c'])
})
