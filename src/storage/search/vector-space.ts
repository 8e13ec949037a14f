/** The common facts of the vectors of a space on all engines. */
import { createHash } from 'node:crypto'
import type { Vector, VectorSpace } from './search-engine.ts'

/** Prefix of the names of all vector tables. */
export const vectorTablePrefix = 'chunk_vectors_'

/** Returns true if a table of that name holds vectors of the space with this id, of any length. */
export function isTableOf(name: string, id: string): boolean {
  return name.startsWith(vectorTablePrefix) && name.endsWith(`_${hashOf(id)}`)
}

/** Returns a name with a hash, because an embedding's own name can be long and contain any characters. */
export function vectorTableName({ id, dimensions }: VectorSpace): string {
  return `${vectorTablePrefix}${dimensions}_${hashOf(id)}`
}

/** The last hash, cached because it is needed for each vector that is written. */
let last: { id: string; hash: string } | undefined

function hashOf(id: string): string {
  if (last?.id !== id) last = { id, hash: createHash('sha256').update(id).digest('hex').slice(0, 12) }
  return last.hash
}

export function checkDimensions({ form, dimensions }: VectorSpace, { length }: Vector): void {
  const count = form === 'bits' ? length * 8 : length
  if (count !== dimensions) throw new Error(`the vector has ${count} dimensions, its space ${dimensions}`)
}

export function hasDirection({ form }: VectorSpace, vector: Vector): boolean {
  return form === 'bits' || vector.some(value => value !== 0)
}

/** Returns the similarity at a distance: the number of differing bits, or for floats 1 minus the cosine. */
export function similarityOf({ form, dimensions }: VectorSpace, distance: number): number {
  const cosine = form === 'bits' ? Math.cos((Math.PI * distance) / dimensions) : 1 - distance
  return Math.min(1, Math.max(0, cosine))
}
