/** Fields of a streamed answer's chunk. Each can be missing, null or of another type. */
export type Fields = Record<string, unknown>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}

/** Returns a non-empty text; servers send null, empty texts and flags in place of no text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** True for a non-empty error: some servers send an empty one with every chunk. */
export function isError(value: unknown): boolean {
  return isFields(value) ? Object.values(value).some(Boolean) : Boolean(value)
}

/** Unwraps a list of one, in which Google sends errors. */
export function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value
}
