/** The kinds of environment variables, and the declarations of a group of them. */
import { type Static, type TObject, type TProperties, Type } from 'typebox'

interface TextOptions {
  default?: string
  /** True for values that messages must not show. */
  secret?: boolean
  pattern?: string
  check?: Check
}

/** Checks of a value that the schema cannot express. */
type Check = (value: string) => boolean

/** The description of a variable; `expects` ends the sentence "NAME must be …" of a problem report. */
export interface Description {
  expects: string
  secret?: boolean
  check?: Check
}

/** One part of the configuration. */
export interface Group<Variables extends TProperties, Values> {
  variables: Variables
  /** Returns problems of the variables' combination, as sentences; `all` holds the variables of every group. */
  problems?(environment: Static<TObject<Variables>>, all: Readonly<Record<string, unknown>>): string[]
  /** Called when there are no problems. */
  read(environment: Static<TObject<Variables>>): Values
}

/** Only adds the group's types. */
export function group<Variables extends TProperties, Values>(
  declared: Group<Variables, Values>,
): Group<Variables, Values> {
  return declared
}

/** A text that can be unset. */
export function optional(expects: string, options: TextOptions = {}) {
  return Type.Optional(Type.String({ expects, ...options }))
}

/** A text with a default. */
export function text(defaultValue: string, expects: string, options: TextOptions = {}) {
  return Type.String({ default: defaultValue, expects, ...options })
}

/** Declares a key. Other characters in it would only show at use, as an answer that no model gives. */
export function key() {
  const pattern = '^[\\x21-\\x7e]+$'
  return optional('a key of printable ASCII characters without blanks', { pattern, secret: true })
}

export function whole(defaultValue: number | undefined, minimum: number, maximum: number) {
  const expects = `a whole number from ${minimum} to ${maximum}`
  return Type.Integer({ default: defaultValue, minimum, maximum, expects })
}

export function oneOf<const Value extends string>(values: readonly Value[], defaultValue?: Value) {
  return Type.Unsafe<Value>({ enum: values, default: defaultValue, expects: `one of ${values.join(', ')}` })
}

export function webAddress() {
  return optional('an http or https address', { check: isWebAddress })
}

export function isWebAddress(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}

/** Returns the entries of a list that is separated by commas; none if it is unset. */
export function listOf(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '')
}
