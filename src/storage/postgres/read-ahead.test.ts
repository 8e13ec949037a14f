import { expect, test } from 'vitest'
import { withReadAhead } from './read-ahead.ts'

const begin = 'start transaction isolation level repeatable read read only'
const first = 'select state'

function open(fails = () => false) {
  const sent: string[] = []
  const query = withReadAhead(async (text: string) => {
    sent.push(text)
    if (fails()) throw new Error('there is no such table')
    const results = text.split('; ').map(statement => `${statement} ${sent.length}`)
    return results.length > 1 ? results : (results[0] ?? '')
  }, first)
  return { sent, query: (text: string) => query(text, []) }
}

test('a transaction that only reads has what it asks first with its beginning', async () => {
  const { sent, query } = open()
  await query(begin)
  expect(await query(first)).toBe(`${first} 1`)
  expect(await query(first)).toBe(`${first} 1`)
  await query('commit')
  expect(await query(first)).toBe(`${first} 3`)
  expect(sent).toEqual([`${begin}; ${first}`, 'commit', first])
})

test('a transaction that writes asks each time, since it may have changed the answer', async () => {
  const { sent, query } = open()
  for (const text of ['begin', first, first, 'rollback']) await query(text)
  expect(sent).toEqual(['begin', first, first, 'rollback'])
})

test('a transaction that could not read ends', async () => {
  let isBroken = true
  const { sent, query } = open(() => isBroken)
  await expect(query(begin)).rejects.toThrow('there is no such table')
  isBroken = false
  expect(await query(first)).toBe(`${first} 3`)
  expect(sent).toEqual([`${begin}; ${first}`, 'rollback', first])
})
