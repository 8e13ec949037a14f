import { expect, it } from 'vitest'
import { createFairSlots } from './fair-slots.ts'

const never = new AbortController().signal

/** Takes a slot for each owner, in order; tells who has been let in, and lets them go again one by one. */
function queueUp(owners: string[], count: number, perOwner: number) {
  const slots = createFairSlots(count, perOwner)
  const entered: string[] = []
  const releases: (() => void)[] = []
  for (const owner of owners) {
    void slots.take(owner, never).then(release => {
      entered.push(owner)
      releases.push(release)
    })
  }
  const settle = () => new Promise(setImmediate)
  return {
    slots,
    async entered() {
      await settle()
      return entered.join('')
    },
    async releaseFirst() {
      await settle()
      releases.shift()?.()
    },
  }
}

it('owners take turns, whoever came first with how many', async () => {
  const queue = queueUp([...'aaaabbc'], 1, 1)
  for (let index = 0; index < 7; index += 1) await queue.releaseFirst()
  expect(await queue.entered()).toBe('aabcaba')
})

it('one owner leaves slots to others, and gets no more for their being free', async () => {
  const queue = queueUp([...'aaaab'], 4, 2)
  expect(await queue.entered()).toBe('aab')
  await queue.releaseFirst()
  expect(await queue.entered()).toBe('aaba')
})

it('the last free slot is for an owner who holds none', async () => {
  const queue = queueUp([...'aabbc'], 4, 2)
  expect(await queue.entered()).toBe('aabc')
})

it('who gives up has no turn, and takes nobody else theirs', async () => {
  const queue = queueUp(['a'], 1, 1)
  const [first, second] = [new AbortController(), new AbortController()]
  const gaveUp = queue.slots.take('b', first.signal)
  const waiting = queue.slots.take('b', second.signal)
  first.abort(new Error('gave up'))
  await expect(gaveUp).rejects.toThrow('gave up')
  await queue.releaseFirst()
  const release = await waiting
  second.abort(new Error('too late'))
  release()
  await expect(queue.slots.take('a', never)).resolves.toBeTypeOf('function')
  await expect(queue.slots.take('a', AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
})
