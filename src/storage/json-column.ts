import { parseJson } from '#platform/exact-json.ts'

/**
 * Returns the value of a JSON column; `fallback` for null and for invalid JSON, so that one damaged row does
 * not break a whole list. The type is not checked.
 */
export function parseJsonColumn<Value>(text: string | null, fallback: Value): Value {
  if (text === null) return fallback
  try {
    return parseJson(text) as Value
  } catch {
    return fallback
  }
}
