/** Placeholders `{name}` of manual tools. They are only searched in text that a person wrote, never in their values. */

import { invalid } from '#platform/errors.ts'
import { parseJson } from '#platform/exact-json.ts'
import { isRecord, ownValue, textOf } from './values.ts'

const name = '[A-Za-z_][\\w.\\-]{0,63}'
const placeholder = new RegExp(`\\{(${name})\\}`, 'g')
const wholePlaceholder = new RegExp(`^\\{(${name})\\}$`)
/** A string without an end reaches to the end of the text: otherwise each quote in it would be tried as a beginning. */
const stringOrPlaceholder = new RegExp(`"(?:[^"\\\\]|\\\\.?)*"?|\\{(${name})\\}`, 'gs')

/** The value of a placeholder; undefined if the caller gave none. */
export type LookUp = (name: string) => unknown

/** Max characters of the arguments in one request, counted at each use. */
const maxLookUps = 4_000_000

/** Looks up arguments for one request. Throws VALIDATION_ERROR before they fill the memory: one argument can have many places. */
export function lookUpIn(values: Record<string, unknown>): LookUp {
  const lengths = new Map<string, number>()
  let lookedUp = 0
  return name => {
    const value = ownValue(values, name)
    const length = lengths.get(name) ?? textOf(value).length
    lengths.set(name, length)
    lookedUp += length
    if (lookedUp > maxLookUps)
      throw invalid(
        name,
        `is too long for the places that it stands in: at most ${maxLookUps} characters are sent`,
      )
    return value
  }
}

export function namesIn(text: string): string[] {
  return [...text.matchAll(placeholder)].map(([, found = '']) => found)
}

/** Returns the placeholder's name for a text that is one placeholder and nothing else. */
export function wholeName(text: string): string | undefined {
  return wholePlaceholder.exec(text)?.[1]
}

/** True if there are braces that do not enclose a name. */
export function hasStrayBrace(text: string): boolean {
  return /[{}]/.test(text.replace(placeholder, ''))
}

/** Replaces each placeholder once; `write` formats the value for its place. */
export function fillText(
  text: string,
  lookUp: LookUp,
  write: (value: unknown, name: string) => string,
): string {
  return text.replace(placeholder, (_, found: string) => write(lookUp(found), found))
}

/**
 * A template of a JSON text. `{"count": {count}}` and `{"count": "{count}"}` both become the value itself, of any
 * type; inside a longer string it becomes text. Undefined for a text that is not JSON with placeholders.
 */
export function parseJsonTemplate(text: string): { value: unknown } | undefined {
  const quoted = text.replace(stringOrPlaceholder, (whole, found?: string) =>
    found === undefined ? whole : `"${whole}"`,
  )
  try {
    return { value: parseJson(quoted) }
  } catch {
    return undefined
  }
}

/** Fills a JSON value whose strings contain placeholders. Members without a value are left out. */
export function fillJson(template: unknown, lookUp: LookUp): unknown {
  if (typeof template === 'string') {
    const whole = wholeName(template)
    return whole === undefined ? fillText(template, lookUp, textOf) : lookUp(whole)
  }
  if (Array.isArray(template)) return template.map(item => fillJson(item, lookUp) ?? null)
  if (!isRecord(template)) return template
  const members = Object.entries(template).map(([key, value]) => [
    fillText(key, lookUp, textOf),
    fillJson(value, lookUp),
  ])
  return Object.fromEntries(members)
}

/** Names in a JSON template; `isWhole` says whether all its places accept a value of any type. */
export function namesInJson(template: unknown): { name: string; isWhole: boolean }[] {
  if (typeof template === 'string') {
    const whole = wholeName(template)
    if (whole !== undefined) return [{ name: whole, isWhole: true }]
    return namesIn(template).map(found => ({ name: found, isWhole: false }))
  }
  if (Array.isArray(template)) return template.flatMap(namesInJson)
  if (!isRecord(template)) return []
  return Object.entries(template).flatMap(([key, value]) => [
    ...namesInJson(`${key} `),
    ...namesInJson(value),
  ])
}
