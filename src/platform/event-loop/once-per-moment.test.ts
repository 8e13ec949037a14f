import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { oncePerMoment } from './once-per-moment.ts'

test('those who ask in one moment share what is read, by what they ask for', async () => {
  const read = vi.fn(async (key: string) => `value of ${key}`)
  const ask = oncePerMoment(read)
  const first = ask('a')
  await Promise.resolve()
  expect(await Promise.all([first, ask('a'), ask('b')])).toEqual(['value of a', 'value of a', 'value of b'])
  expect(read.mock.calls).toEqual([['a'], ['b']])
})

test('who asks later is given what is there then, also while the former read goes on', async () => {
  let value = 'old'
  const slow = Promise.withResolvers<void>()
  const ask = oncePerMoment(async (_key: string) => {
    const found = value
    if (found === 'old') await slow.promise
    return found
  })
  const former = ask('a')
  await nextTurn()
  value = 'new'
  expect(await ask('a')).toBe('new')
  slow.resolve()
  expect(await former).toBe('old')
})

test('a failure is told to all of that moment, and to nobody later', async () => {
  const read = vi.fn(async (_key: string) => 'found').mockRejectedValueOnce(new Error('busy'))
  const ask = oncePerMoment(read)
  expect(await Promise.allSettled([ask('a'), ask('a')])).toMatchObject([
    { reason: { message: 'busy' } },
    { reason: { message: 'busy' } },
  ])
  await nextTurn()
  expect(await ask('a')).toBe('found')
})
