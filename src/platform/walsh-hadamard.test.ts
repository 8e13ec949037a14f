import { expect, test } from 'vitest'
import { walshHadamard } from './walsh-hadamard.ts'

/** By its definition: the sign of each value follows from the bits that both places have in common. */
function transformedByDefinition(values: readonly number[]): number[] {
  const bitsIn = (number: number) => [...number.toString(2)].filter(bit => bit === '1').length
  return values.map((_, place) =>
    values.reduce((sum, value, at) => sum + (bitsIn(place & at) % 2 === 0 ? value : -value), 0),
  )
}

test.each([1, 2, 4, 8, 64, 128])('%i values are transformed as it is defined', length => {
  const values = Array.from({ length }, (_, at) => ((at * 37) % 11) - 5)
  const transformed = Float32Array.from(values)
  walshHadamard(transformed)
  expect([...transformed]).toEqual(transformedByDefinition(values).map(value => value + 0))
})
