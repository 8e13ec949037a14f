import type { NearestQuery, VectorSpace } from '../../search-engine.ts'
import { sketchBits, bitValues as valuesOfAll } from '../../sketch-bits.ts'

/**
 * What each bit of a sketch counts for, zeros for those that a short vector lacks. A query keeps its values, since a bit on
 * one side alone costs half as much precision as on both (RaBitQ, Gao and Long 2024).
 */
export function bitValues(space: Pick<VectorSpace, 'form'>, query: Pick<NearestQuery, 'vector' | 'values'>) {
  const counted = new Float32Array(sketchBits)
  counted.set(valuesOfAll(space, query).subarray(0, sketchBits))
  return counted
}
