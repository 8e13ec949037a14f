import { parseExact } from '#console/api/exact-json.ts'

/** The part of JSON Schema that forms understand; everything else is edited as JSON. */
export interface JsonSchema {
  type?: string | readonly string[]
  title?: string | undefined
  description?: string | undefined
  properties?: Readonly<Record<string, JsonSchema>>
  required?: readonly string[]
  items?: JsonSchema
  enum?: readonly unknown[]
  /** Labels of the values of `enum`, in the same order. */
  enumTitles?: readonly string[]
  default?: unknown
  examples?: readonly unknown[]
  /** `duration` of an integer: seconds, edited in a suitable unit. */
  format?: string
  pattern?: string
  maxLength?: number
  minimum?: number
  maximum?: number
  /** True for a secret, which is never shown. */
  writeOnly?: boolean
}

export type Values = Readonly<Record<string, unknown>>

/** The contents of the fields while a person types: texts, checks, and objects of them. */
export interface Draft {
  readonly [name: string]: DraftValue
}
export type DraftValue = string | boolean | Draft

export type FieldKind =
  | 'text'
  | 'long'
  | 'number'
  | 'check'
  | 'choice'
  | 'lines'
  | 'object'
  | 'duration'
  | 'json'

/** Length above which texts are edited in several lines. */
const longText = 300
/** `code` uses a monospaced font. */
const longFormats: readonly unknown[] = ['multiline', 'code']

export function kindOf(schema: JsonSchema): FieldKind {
  const type = typeOf(schema)
  if (schema.enum !== undefined) return 'choice'
  if (type === 'boolean') return 'check'
  if (schema.format === 'duration') return 'duration'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'string')
    return longFormats.includes(schema.format) || (schema.maxLength ?? 0) > longText ? 'long' : 'text'
  if (type === 'array' && schema.items && typeOf(schema.items) === 'string' && !schema.items.enum)
    return 'lines'
  if (type === 'object' && schema.properties !== undefined) return 'object'
  return 'json'
}

/** Returns the type other than `null`. */
function typeOf({ type }: JsonSchema): string | undefined {
  return [type ?? []].flat().find(one => one !== 'null')
}

const propertiesOf = (schema: JsonSchema) => Object.entries(schema.properties ?? {})

export function initialValues(schema: JsonSchema, values: Values = {}): Draft {
  return Object.fromEntries(
    propertiesOf(schema).map(([name, property]) => [
      name,
      draftOf(property, values[name] ?? property.default),
    ]),
  )
}

function draftOf(schema: JsonSchema, value: unknown): DraftValue {
  const kind = kindOf(schema)
  if (kind === 'check') return value === true
  if (kind === 'object') return initialValues(schema, isObject(value) ? value : {})
  if (value === undefined || value === null) return ''
  if (kind === 'lines') return [value].flat().map(textOf).join('\n')
  if (kind === 'duration') return { ...durationOf(Number(value)) }
  return kind === 'json' || typeof value !== 'string' ? JSON.stringify(value, undefined, 2) : value
}

/** The seconds of each unit, longest first. */
export const timeUnits = { day: 86_400, hour: 3600, minute: 60, second: 1 } as const
export type TimeUnit = keyof typeof timeUnits

/** Converts seconds to the longest unit that divides them. */
export function durationOf(seconds: number): { amount: string; unit: TimeUnit } {
  const found = Object.entries(timeUnits).find(([, length]) => seconds % length === 0)
  const [unit, length] = (found ?? ['second', 1]) as [TimeUnit, number]
  return { amount: String(seconds / length), unit }
}

/** Returns the seconds; undefined without an amount. */
function secondsOf({ amount = '', unit }: Draft): number | undefined {
  const seconds = Number(amount) * timeUnits[unit as TimeUnit]
  return amount === '' ? undefined : Math.round(seconds * 1000) / 1000
}

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Removes the secrets, so that no form keeps one that was sent. */
export function withoutSecrets(schema: JsonSchema, draft: Draft): Draft {
  const secrets = propertiesOf(schema).filter(([, { writeOnly }]) => writeOnly)
  return { ...draft, ...Object.fromEntries(secrets.map(([name]) => [name, ''])) }
}

type Read = { values: Values } | { field: string }

/** Reads the values of a draft, without empty ones; or returns the field with invalid JSON. */
export function readValues(schema: JsonSchema, draft: Draft): Read {
  const values: Record<string, unknown> = {}
  for (const [name, property] of propertiesOf(schema)) {
    const value = readValue(property, draft[name] ?? '')
    if (value === notJson) return { field: name }
    const isRequired = schema.required?.includes(name) ?? false
    if (value !== undefined && (isRequired || !isEmpty(value))) values[name] = value
  }
  return { values }
}

/**
 * Returns the changes of a resource whose fields `null` removes: a cleared field is null, and unchanged
 * fields are left out. Secrets are never known, so each typed one counts.
 */
export function changedValues(schema: JsonSchema, before: Values, values: Values): Values {
  const changed = propertiesOf(schema).filter(([name, { writeOnly, default: usual = null }]) => {
    if (writeOnly) return values[name] !== undefined
    return JSON.stringify(values[name] ?? usual) !== JSON.stringify(before[name] ?? usual)
  })
  return Object.fromEntries(changed.map(([name]) => [name, values[name] ?? null]))
}

const isEmpty = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

const notJson = Symbol('not JSON')

function readValue(schema: JsonSchema, draft: DraftValue): unknown {
  if (typeof draft === 'boolean') return draft
  if (typeof draft === 'object') {
    if (schema.format === 'duration') return secondsOf(draft)
    const read = readValues(schema, draft)
    return 'values' in read ? read.values : notJson
  }
  if (draft.trim() === '') return undefined
  const kind = kindOf(schema)
  if (kind === 'lines') return draft.split('\n').filter(line => line.trim() !== '')
  if (kind === 'choice') return schema.enum?.find(value => textOf(value) === draft)
  if (kind !== 'number' && kind !== 'json') return draft
  try {
    return parseExact(draft)
  } catch {
    return notJson
  }
}

/** Returns the text of a value of `enum`. */
export const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
