/** Turns a model's vectors of tokens into one vector per text. */
import type { Pooling } from './model-folder.ts'

/** A tensor of floats: by text, then by token; without tokens if the model pools by itself. */
export interface Output {
  data: Float32Array
  dims: readonly number[]
}

export function isOutput(value: unknown): value is Output {
  if (typeof value !== 'object' || value === null || !('data' in value) || !('dims' in value)) return false
  const { data, dims } = value
  return data instanceof Float32Array && Array.isArray(dims) && (dims.length === 2 || dims.length === 3)
}

/** @param lengths numbers of tokens of the texts, without padding. */
export function vectorsOf(
  { data, dims }: Output,
  lengths: readonly number[],
  pooling: Pooling,
): Float32Array[] {
  const dimensions = dims.at(-1) ?? 0
  const tokens = dims.length === 3 ? (dims[1] ?? 0) : 1
  return lengths.map((length, text) => {
    const start = text * tokens * dimensions
    const row = data.subarray(start, start + tokens * dimensions)
    return normalised(dims.length === 3 ? pooled(row, dimensions, length, pooling) : row)
  })
}

function pooled(row: Float32Array, dimensions: number, length: number, pooling: Pooling): Float32Array {
  const [first, end] = { mean: [0, length], first: [0, 1], last: [length - 1, length] }[pooling] as [
    number,
    number,
  ]
  const sums = new Float32Array(dimensions)
  for (let token = Math.max(0, first); token < end; token++)
    for (let at = 0; at < dimensions; at++) sums[at] = (sums[at] ?? 0) + (row[token * dimensions + at] ?? 0)
  return sums
}

/** Normalises to length 1 (so a mean needs no division); zeros stay as they are. */
function normalised(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return length === 0 ? Float32Array.from(vector) : vector.map(value => value / length)
}
