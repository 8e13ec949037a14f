import { describe, expect, test } from 'vitest'
import { essentialTerms, mayMissSome } from './essential-terms.ts'

const split = (holding: Record<string, number>, chunks: number, limit = 10) => {
  const { essential, others } = essentialTerms({ terms: new Map(Object.entries(holding)), chunks, limit })
  return [essential.map(([term]) => term), others.map(([term]) => term)]
}

describe('essential terms', () => {
  test('are the rarest ones, as many as find ten times what is wanted', () => {
    expect(split({ flow: 300, slipstream: 40, wing: 70, heat: 200 }, 1000)).toEqual([
      ['slipstream', 'wing'],
      ['heat', 'flow'],
    ])
  })

  test('find a fiftieth of a large collection', () => {
    expect(split({ flow: 30_000, slipstream: 900, wing: 1_200 }, 100_000)).toEqual([
      ['slipstream', 'wing'],
      ['flow'],
    ])
  })

  test('are all terms where these find little', () => {
    expect(split({ wing: 3, flow: 4 }, 1000)).toEqual([['wing', 'flow'], []])
  })

  test('and others leave out what every second chunk holds, unless nothing else finds enough', () => {
    expect(split({ the: 900, wing: 20 }, 1000)).toEqual([['wing'], []])
    expect(split({ the: 900, wing: 5 }, 1000)).toEqual([['wing', 'the'], []])
  })
})

describe('chunks that hold no essential term', () => {
  const found = Array.from({ length: 10 }, (_, index) => ({ value: 12 - index }))
  const weightOf = (holding: number) => Math.log(1000 / holding)

  test('may be among the first ones if the others weigh more than the tenth', () => {
    expect(mayMissSome(found, [['flow', 300]], weightOf)).toBe(false)
    expect(
      mayMissSome(
        found,
        [
          ['flow', 300],
          ['heat', 100],
        ],
        weightOf,
      ),
    ).toBe(true)
    expect(mayMissSome(found, [], weightOf)).toBe(false)
  })

  test('are needed where fewer than ten were found', () => {
    expect(mayMissSome(found.slice(0, 9), [['flow', 300]], weightOf)).toBe(true)
  })
})
