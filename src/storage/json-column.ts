import { parseJson } from '#platform/exact-json.ts'

/**
 * The value of a JSON column; `fallback` for null and for invalid JSON, so that one damaged row does not break a whole
 * list. It is not checked that the value is a `Value`.
 */
export function parseJsonColumn<Value>(text: string | null, fallback: Value): Value {
  if (text === null) return fallback
  try {
    return parseJson(text) as Value
  } catch {
    return fallback
  }
}
