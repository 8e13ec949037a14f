/**
 * The value of a column that holds JSON; `fallback` for null and for text that is none, so that one damaged row does not
 * spoil a whole list. Nothing checks that it is a `Value`.
 */
export function parseJsonColumn<Value>(text: string | null, fallback: Value): Value {
  if (text === null) return fallback
  try {
    return JSON.parse(text) as Value
  } catch {
    return fallback
  }
}
