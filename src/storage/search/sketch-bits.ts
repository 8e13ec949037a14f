/** A sketch is a short form of a vector: each bit says on which side of a plane it lies. */
import { walshHadamard } from '#platform/walsh-hadamard.ts'
import type { NearestQuery, Vector, VectorSpace } from './search-engine.ts'

export const sketchBits = 2048
export const sketchBytes = sketchBits / 8

type Form = Pick<VectorSpace, 'form'>

/** Returns the sketch of a vector. A vector of bits already has this form: its first bits are its sketch. */
export function sketchOf({ form }: Form, vector: Vector): Uint8Array {
  const sketch = new Uint8Array(sketchBytes)
  if (form === 'bits') sketch.set(vector.subarray(0, sketchBytes))
  else setSigns(sketch, rotated(vector))
  return sketch
}

/** Returns the weight of each bit: their sum, each with the sign of its bit, estimates the similarity. */
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

/** Rotates a vector pseudo-randomly, always alike, so that each dimension contributes to each value. */
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
