import { sumOf, sumsOf } from './bit-sums.ts'
import { differing, wordsOf } from './differing-bits.ts'
import type { NearestQuery, Vector, VectorSpace } from './search-engine.ts'
import { similarityOf } from './vector-space.ts'

/** Returns a function for the similarity of vectors to this one, from 0 to 1, given their bytes as stored. */
export function similarityTo(
  space: VectorSpace,
  { vector, values }: Pick<NearestQuery, 'vector' | 'values'>,
): (stored: Uint8Array) => number {
  if (space.form === 'floats') {
    const wanted = unit(vector)
    return stored => Math.min(1, Math.max(0, cosine(wanted, floatsOf(stored))))
  }
  if (values !== undefined) return similarityToValues(values)
  const wanted = wordsOf(vector)
  return stored => similarityOf(space, differing(wanted, wordsOf(stored), 0, 0, wanted.length))
}

/**
 * The cosine between values and bits: half the error of that between bits alone. The magnitude behind a bit is unknown;
 * for normally distributed values, its mean is the root of 2/π, in units of their standard deviation.
 */
function similarityToValues(values: Float32Array): (stored: Uint8Array) => number {
  const sums = sumsOf(values)
  let square = 0
  for (let index = 0; index < values.length; index += 1) square += (values[index] ?? 0) * (values[index] ?? 0)
  const whole = Math.sqrt((square * values.length * 2) / Math.PI)
  return stored => Math.min(1, Math.max(0, sumOf(sums, stored, 0, 0, stored.length) / whole))
}

function unit(vector: Vector): Float32Array<ArrayBuffer> {
  const length = Math.hypot(...vector)
  return Float32Array.from(vector, value => value / length)
}

/** Returns the bytes as floats, copied only if they are not aligned to four bytes. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes)
  return new Float32Array(buffer, byteOffset, byteLength / 4)
}

/** @param wanted a vector of the length 1. */
function cosine(wanted: Float32Array, other: Float32Array): number {
  let product = 0
  let square = 0
  for (let index = 0; index < wanted.length; index += 1) {
    const value = other[index] ?? 0
    product += (wanted[index] ?? 0) * value
    square += value * value
  }
  return product / Math.sqrt(square)
}
