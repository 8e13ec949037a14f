/** A sketch is a short form of a vector: bits that tell on which side of as many planes it lies. */
import { walshHadamard } from '#platform/walsh-hadamard.ts'
import type { NearestQuery, Vector, VectorSpace } from './search-engine.ts'

export const sketchBits = 2048
export const sketchBytes = sketchBits / 8

type Form = Pick<VectorSpace, 'form'>

/** The bits of a vector of bits are such sides already: its first ones are its sketch. */
export function sketchOf({ form }: Form, vector: Vector): Uint8Array {
  const sketch = new Uint8Array(sketchBytes)
  if (form === 'bits') sketch.set(vector.subarray(0, sketchBytes))
  else setSigns(sketch, rotated(vector))
  return sketch
}

/** What each bit counts for: the estimate of the similarity is the sum of these, each with its bit's sign. */
export function bitValues(
  { form }: Form,
  { vector, values }: Pick<NearestQuery, 'vector' | 'values'>,
): Float32Array {
  if (form === 'floats') return rotated(vector)
  return values ?? signsOf(vector)
}

function signsOf(bits: Vector): Float32Array {
  return Float32Array.from({ length: bits.length * 8 }, (_, index) =>
    ((bits[index >> 3] ?? 0) >> (index & 7)) & 1 ? 1 : -1,
  )
}

export function setSigns(bits: Uint8Array, values: Float32Array): void {
  values.forEach((value, index) => {
    if (value > 0) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7))
  })
}

/** Turned in a way that looks random but is always the same, so that every dimension has a part in every value. */
function rotated(vector: Vector): Float32Array {
  const size = 2 ** Math.ceil(Math.log2(Math.max(sketchBits, vector.length)))
  const values = new Float32Array(size)
  values.set(vector)
  for (const seed of [0x9e37_79b1, 0x85eb_ca77]) {
    for (let index = 0; index < size; index += 1)
      if (flips(index, seed)) values[index] = -(values[index] ?? 0)
    walshHadamard(values)
  }
  return values.subarray(0, sketchBits)
}

function flips(index: number, seed: number): boolean {
  let hash = Math.imul(index + 1, seed)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d)
  return ((hash ^ (hash >>> 13)) & 1) === 1
}
