import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withReadAhead } from './read-ahead.ts'

const begin = 'start transaction isolation level repeatable read read only'
const [state, drafts, list, shown] = ['select state', 'select drafts', 'select list', 'select shown']

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function open(fails: (text: string) => boolean = () => false) {
  const sent: string[] = []
  const query = withReadAhead(async (text: string) => {
    sent.push(text)
    if (fails(text)) throw new Error('there is no such table')
    const results = text.split('; ').map(statement => `${statement} ${sent.length}`)
    return results.length > 1 ? results : (results[0] ?? '')
  })
  return { sent, query: (text: string, ...parameters: unknown[]) => query(text, parameters) }
}

/** What statements are in a text when they are sent ahead the first time. */
function firstOf(...texts: string[]): string {
  const prepared = texts.map((text, at) => `prepare ahead_${at + 1} as ${text}`)
  return [...prepared, ...texts.map((_, at) => `execute ahead_${at + 1}`)].join('; ')
}

test('a transaction that only reads has what the last one asked first with its beginning', async () => {
  const { sent, query } = open()
  for (const text of [begin, shown, drafts, state, list, 'commit', begin]) await query(text)
  expect(await query(shown)).toBe('execute ahead_1 6')
  expect(await query(drafts)).toBe('execute ahead_2 6')
  expect(await query(state)).toBe('execute ahead_3 6')
  expect(await query(state)).toBe('execute ahead_3 6')
  expect(await query(list)).toBe(`${list} 7`)
  const ahead = `commit; ${begin}; ${firstOf(shown, drafts, state)}`
  expect(sent).toEqual([begin, shown, drafts, state, list, ahead, list])
})

test('what is sent ahead again is planned already, and what failed gets a name of its own', async () => {
  let fails = false
  const { sent, query } = open(text => fails && text.includes(list))
  for (const text of [begin, state, 'commit', begin, state, 'commit', begin]) await query(text)
  expect(sent.slice(-2)).toEqual([`commit; ${begin}; ${firstOf(state)}`, `commit; ${begin}; execute ahead_1`])
  for (const text of [list, 'commit']) await query(text)
  fails = true
  await query(begin)
  fails = false
  for (const text of [list, 'commit', begin]) await query(text)
  expect(sent.at(-1)).toBe(`commit; ${begin}; prepare ahead_3 as ${list}; execute ahead_3`)
  expect(await query(list)).toBe(`execute ahead_3 ${sent.length}`)
})

test('what has parameters, or comes after it, is not sent ahead', async () => {
  const { sent, query } = open()
  await query(begin)
  await query(state)
  await query(list, 1)
  for (const text of [drafts, 'commit', begin]) await query(text)
  expect(sent.at(-1)).toBe(`commit; ${begin}; ${firstOf(state)}`)
  expect(await query(state, 1)).toBe(`${state} 6`)
})

test('the end of a transaction that has read is not waited for, and told soon', async () => {
  const { sent, query } = open()
  for (const text of [begin, 'commit']) await query(text)
  expect(sent).toEqual([begin])
  await vi.runAllTimersAsync()
  expect(sent).toEqual([begin, 'commit'])
  for (const text of [begin, 'commit', state]) await query(text)
  expect(sent).toEqual([begin, 'commit', begin, 'commit', state])
  await vi.runAllTimersAsync()
  expect(sent).toHaveLength(5)
})

test('the end is waited for where something went wrong', async () => {
  const { sent, query } = open(text => text === list)
  await query(begin)
  await expect(query(list)).rejects.toThrow('there is no such table')
  expect(await query('commit')).toBe('commit 3')
  await query(begin)
  expect(await query('rollback')).toBe('rollback 5')
  expect(sent).toEqual([begin, list, 'commit', `${begin}; ${firstOf(list)}`, 'rollback'])
})

test('a transaction that writes asks each time, since it may have changed the answer', async () => {
  const { sent, query } = open()
  for (const text of ['begin', state, state, 'rollback']) await query(text)
  expect(sent).toEqual(['begin', state, state, 'rollback'])
})

test('what is asked after a transaction that reads is not sent ahead', async () => {
  const { sent, query } = open()
  for (const text of [begin, drafts, 'commit', 'begin', 'delete drafts', 'commit', begin]) await query(text)
  expect(sent.at(-1)).toBe(`${begin}; ${firstOf(drafts)}`)
})

test('where something else is there than the last time, the transaction begins without it', async () => {
  let isOther = false
  const { sent, query } = open(text => isOther && text.includes(list))
  for (const text of [begin, list, 'commit']) await query(text)
  isOther = true
  await query(begin)
  expect(sent.slice(2)).toEqual([`commit; ${begin}; ${firstOf(list)}`, 'rollback', begin])
  expect(await query(state)).toBe(`${state} 6`)
})

test('a connection that does not answer is not asked again', async () => {
  let isBroken = false
  const { sent, query } = open(() => isBroken)
  for (const text of [begin, state, 'commit']) await query(text)
  isBroken = true
  await expect(query(begin)).rejects.toThrow('there is no such table')
  expect(sent.slice(2)).toEqual([`commit; ${begin}; ${firstOf(state)}`, 'rollback'])
})

test('a transaction that could not begin ends', async () => {
  const { sent, query } = open(text => text.includes(begin))
  await expect(query(begin)).rejects.toThrow('there is no such table')
  expect(await query(state)).toBe(`${state} 3`)
  expect(sent).toEqual([begin, 'rollback', state])
})
