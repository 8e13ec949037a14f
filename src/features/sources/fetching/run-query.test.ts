import { expect, it } from 'vitest'
import { turnsDuring } from '#test/support/turns-during.ts'
import { encodeRows } from './run-query.ts'

const decoded = async (selected: Parameters<typeof encodeRows>[0]) =>
  JSON.parse(new TextDecoder().decode(await encodeRows(selected)))

it.each([
  { columns: [], rows: [] },
  { columns: ['name', 'price'], rows: [['Äpfel', 0.5]] },
  { columns: ['note'], rows: [['"'], [null], [true], [{ base64: 'AA==' }]] },
])('%j is stored as it is', async selected => {
  expect(await decoded(selected)).toEqual(selected)
})

it('the largest answer is stored as it is, and others go on meanwhile', async () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => [at, 'é'.repeat(400)])
  const selected = { columns: ['number', 'text'], rows }
  expect(await decoded(selected)).toEqual(selected)
  expect(await turnsDuring(encodeRows(selected))).toBeGreaterThanOrEqual(10)
})
