import { invalid } from '#platform/errors.ts'
import {
  type ChunkingOptions,
  type ChunkingWishes,
  chunkingBounds,
  chunkingMethods,
  defaultChunking,
} from './chunking-options.ts'

/** Reads the chunking of a form, with defaults for omitted fields. Throws VALIDATION_ERROR. */
export function readChunking(fields: Record<string, string>): ChunkingOptions {
  const { min, max } = chunkingBounds.chunk_size
  const chunk_size = readWhole(fields, 'chunk_size', defaultChunking.chunk_size, min, max)
  const maxOverlap = Math.ceil(chunk_size / 2) - 1
  const unasked = Math.min(defaultChunking.overlap, maxOverlap)
  const overlap = readWhole(fields, 'overlap', unasked, chunkingBounds.overlap.min, maxOverlap)
  const method = chunkingMethods.find(known => known === (fields.method ?? defaultChunking.method))
  if (method === undefined) throw invalid('method', `must be one of ${chunkingMethods.join(', ')}`)
  return { chunk_size, overlap, method }
}

/** Reads the chunking of a JSON body likewise. */
export function chunkingOf({ chunk_size, overlap, method }: ChunkingWishes): ChunkingOptions {
  return readChunking({
    ...(chunk_size !== undefined && { chunk_size: String(chunk_size) }),
    ...(overlap !== undefined && { overlap: String(overlap) }),
    ...(method !== undefined && { method }),
  })
}

function readWhole(
  fields: Record<string, string>,
  name: string,
  unasked: number,
  min: number,
  max: number,
): number {
  const text = fields[name]?.trim()
  if (text === undefined || text === '') return unasked
  const value = Number(text)
  if (!/^\d{1,9}$/.test(text) || value < min || value > max)
    throw invalid(name, `must be a whole number from ${min} to ${max}`)
  return value
}
