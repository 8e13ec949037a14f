import { expect, test } from 'vitest'
import { rotate } from './rotate.ts'

/** By its definition: each value counts with the sign that the bits told by both places give it. */
function rotatedByDefinition(values: readonly number[]): number[] {
  const bitsIn = (number: number) => [...number.toString(2)].filter(bit => bit === '1').length
  return values.map((_, place) =>
    values.reduce((sum, value, at) => sum + (bitsIn(place & at) % 2 === 0 ? value : -value), 0),
  )
}

test.each([1, 2, 4, 8, 64, 128])('%i values are rotated as the transform is defined', length => {
  const values = Array.from({ length }, (_, at) => ((at * 37) % 11) - 5)
  const rotated = Float32Array.from(values)
  rotate(rotated)
  expect([...rotated]).toEqual(rotatedByDefinition(values).map(value => value + 0))
})
