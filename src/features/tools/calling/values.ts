/** Reads values from JSON, without properties that objects inherit. */
export type JsonRecord = Record<string, unknown>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the object's own value of this name; inherited ones, such as `constructor`, do not count. */
export function ownValue(record: unknown, name: string): unknown {
  return isRecord(record) && Object.hasOwn(record, name) ? record[name] : undefined
}

/** A value as text; JSON if it is an object. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value.toWellFormed()
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
