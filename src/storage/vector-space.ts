/** What the vectors of a space have in common on every engine. */
import { createHash } from 'node:crypto'
import type { Vector, VectorSpace } from './search-engine.ts'

/** Begins the names of all tables of vectors. */
export const vectorTablePrefix = 'chunk_vectors_'

/** Whether a table of that name holds vectors of the space with this id, whatever their length. */
export function isTableOf(name: string, id: string): boolean {
  return name.startsWith(vectorTablePrefix) && name.endsWith(`_${hashOf(id)}`)
}

/** Holds a hash, since the embedding's own name may hold anything and have any length. */
export function vectorTableName({ id, dimensions }: VectorSpace): string {
  return `${vectorTablePrefix}${dimensions}_${hashOf(id)}`
}

/** Remembered, since each vector that is written asks for it. */
let last: { id: string; hash: string } | undefined

function hashOf(id: string): string {
  if (last?.id !== id) last = { id, hash: createHash('sha256').update(id).digest('hex').slice(0, 12) }
  return last.hash
}

export function checkDimensions({ form, dimensions }: VectorSpace, { length }: Vector): void {
  const given = form === 'bits' ? length * 8 : length
  if (given !== dimensions) throw new Error(`the vector has ${given} dimensions, its space ${dimensions}`)
}

export function hasDirection({ form }: VectorSpace, vector: Vector): boolean {
  return form === 'bits' || vector.some(value => value !== 0)
}

/** Of a distance as engines count it: for bits the number of those that differ, for floats 1 less the cosine. */
export function similarityOf({ form, dimensions }: VectorSpace, distance: number): number {
  const cosine = form === 'bits' ? Math.cos((Math.PI * distance) / dimensions) : 1 - distance
  return Math.min(1, Math.max(0, cosine))
}
