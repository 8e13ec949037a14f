import { expect, it } from 'vitest'
import { seededRandom } from '#test/support/random.ts'
import { createTextFinder } from './find-text.ts'

/** The same in the simplest way. */
function startsOf(text: string, within: string): number[] {
  const starts: number[] = []
  for (let start = within.indexOf(text); start >= 0; start = within.indexOf(text, start + text.length))
    starts.push(start)
  return starts
}

it('finds texts that repeat themselves wherever they stand, without overlaps', () => {
  const random = seededRandom(5)
  const textOf = (most: number) =>
    Array.from({ length: 1 + Math.floor(random.next() * most) }, () => random.pick(['a', 'b'])).join('')
  let count = 0
  for (let round = 0; round < 5_000; round += 1) {
    const [text, within] = [textOf(round % 2 === 0 ? 6 : 24), textOf(200)]
    const found = createTextFinder(text)(within)
    count += found.length
    expect(found.map(({ start }) => start)).toEqual(startsOf(text, within))
    expect(found.every(({ start, end }) => within.slice(start, end) === text)).toBe(true)
  }
  expect(count).toBeGreaterThan(5_000)
})
