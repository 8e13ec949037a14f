import { expect, it } from 'vitest'
import { readSearch } from './view.ts'

const schema = { find: 'text', from: 'number', show: ['all', 'failed'] } as const

it.each([
  [
    { find: 'kiln', from: 3, show: 'failed' },
    { find: 'kiln', from: 3, show: 'failed' },
  ],
  // The router reads values as JSON.
  [{ find: 12 }, { find: '12' }],
  [{ find: false }, { find: 'false' }],
  [{ find: '' }, {}],
  [{ find: null }, {}],
  [{ find: ['kiln'] }, {}],
  [{ find: { kiln: 1 } }, {}],
  [{ from: 0 }, { from: 0 }],
  [{ from: '3' }, {}],
  [{ from: null }, {}],
  [{ show: 'none' }, {}],
  [{ show: true }, {}],
  [{ other: 'kiln', constructor: 'x' }, {}],
  [{}, {}],
])('of %j, %j is read', (given, read) => {
  expect(readSearch(schema, given)).toStrictEqual(read)
})
