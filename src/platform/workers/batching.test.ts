import { expect, test } from 'vitest'
import { createBatching } from './batching.ts'
import { createFairSlots } from './fair-slots.ts'

const never = new AbortController().signal

/** Runs that stand still until they are told to go on; an item is its own answer, and one that is negative fails. */
function gather({ count = 1, perOwner = 1, most = 3 } = {}) {
  const begun: { name: string; signal: AbortSignal; goOn(): void }[] = []
  const ask = createBatching<number, number>({
    slots: createFairSlots(count, perOwner),
    most,
    async run(owner, items, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      signal.addEventListener('abort', () => reject(signal.reason))
      begun.push({ name: owner + items.join(), signal, goOn: resolve })
      await promise
      if (items.some(item => item < 0)) throw new Error(`of ${items.join()} one is negative`)
      return items
    },
  })
  const settle = () => new Promise(setImmediate)
  return {
    ask,
    /** Lets all runs go on, also those that begin then; tells them in the order in which they began. */
    async goOnWithAll() {
      await settle()
      for (let at = 0; at < begun.length; at += 1) {
        begun[at]?.goOn()
        await settle()
      }
      return begun.map(({ name }) => name)
    },
    async begun() {
      await settle()
      return begun
    },
  }
}

test('what an owner asks for while it waits for its turn is run together, some at a time', async () => {
  const { ask, begun, goOnWithAll } = gather()
  const first = ask('a', 1, never)
  await begun()
  const others = [2, 3, 4, 5, 6].map(item => ask('a', item, never))
  expect(await goOnWithAll()).toEqual(['a1', 'a2,3,4', 'a5,6'])
  expect(await Promise.all([first, ...others])).toEqual([1, 2, 3, 4, 5, 6])
})

test('owners take turns, and nobody is run together with another one', async () => {
  const { ask, begun, goOnWithAll } = gather({ most: 2 })
  const first = ask('a', 1, never)
  await begun()
  const others = [...[2, 3, 4, 5].map(item => ask('a', item, never)), ask('b', 6, never)]
  expect(await goOnWithAll()).toEqual(['a1', 'a2,3', 'b6', 'a4,5'])
  expect(await Promise.all([first, ...others])).toEqual([1, 2, 3, 4, 5, 6])
})

test('of several that are run together only the one to blame fails', async () => {
  const { ask, goOnWithAll } = gather()
  const ended = Promise.allSettled([1, -2, 3].map(item => ask('a', item, never)))
  expect(await goOnWithAll()).toEqual(['a1,-2,3', 'a1', 'a-2', 'a3'])
  expect(await ended).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: new Error('of -2 one is negative') },
    { status: 'fulfilled', value: 3 },
  ])
})

test('who gives up while waiting is told so at once, and is not run', async () => {
  const { ask, begun, goOnWithAll } = gather()
  const first = ask('a', 1, never)
  await begun()
  const giving = new AbortController()
  const second = ask('a', 2, giving.signal)
  const third = ask('a', 3, never)
  giving.abort(new Error('gave up'))
  await expect(second).rejects.toThrow('gave up')
  await expect(ask('a', 4, giving.signal)).rejects.toThrow('gave up')
  expect(await goOnWithAll()).toEqual(['a1', 'a3'])
  expect(await Promise.all([first, third])).toEqual([1, 3])
})

test('a run goes on as long as anybody waits for it, and is ended then', async () => {
  const { ask, begun, goOnWithAll } = gather()
  const [one, other] = [new AbortController(), new AbortController()]
  const [first, second] = [ask('a', 1, one.signal), ask('a', 2, other.signal)]
  const [run] = await begun()
  one.abort(new Error('one gave up'))
  await expect(first).rejects.toThrow('one gave up')
  expect(run?.signal.aborted).toBe(false)
  other.abort(new Error('the other gave up'))
  await expect(second).rejects.toThrow('the other gave up')
  expect(run?.signal.aborted).toBe(true)
  const next = ask('a', 3, never)
  expect((await goOnWithAll()).at(-1)).toBe('a3')
  expect(await next).toBe(3)
})
