import type { NearestQuery, VectorSpace } from '../../search/search-engine.ts'
import { sketchBits, bitValues as valuesOfAll } from '../../search/sketch-bits.ts'

/**
 * Returns the weight of each bit of a sketch; 0 for bits that a short vector lacks. The query keeps its exact
 * values: reducing only one side to bits loses half as much precision as both (RaBitQ, Gao and Long 2024).
 */
export function bitValues(space: Pick<VectorSpace, 'form'>, query: Pick<NearestQuery, 'vector' | 'values'>) {
  const counted = new Float32Array(sketchBits)
  counted.set(valuesOfAll(space, query).subarray(0, sketchBits))
  return counted
}
