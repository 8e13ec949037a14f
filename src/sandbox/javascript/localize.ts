/** The part of `Intl` in sandboxed code; its side is `inside/intl.js`. Errors are those of the host. */
import type { HostFunction } from './host-functions.ts'
import { bounds } from './limits.ts'
import type { JsonValue } from './outcome.ts'

type Method = (...values: unknown[]) => JsonValue
type Service = new (locales: unknown, options: unknown) => object

/** The default locale on all servers. */
const defaultLocale = 'en-US'

/** Functions that read the values of each service. */
const services: Record<string, (value: unknown, index: number) => unknown> = {
  DateTimeFormat: Number,
  NumberFormat: numeric,
  PluralRules: value => Number(numeric(value)),
  RelativeTimeFormat: (value, index) => (index === 0 ? Number(numeric(value)) : limited(value)),
  ListFormat: value => listOf(value).map(limited),
  Collator: limited,
}
const methods: readonly unknown[] = [
  'format',
  'formatToParts',
  'formatRange',
  'formatRangeToParts',
  'select',
  'selectRange',
  'compare',
  'resolvedOptions',
]
const textMethods = ['toLocaleUpperCase', 'toLocaleLowerCase'] as const
const dateMethods = ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'] as const

/** Formatters by kind, locales and options. They are costly to make, and each takes memory. */
const formatters = new Map<string, Record<string, Method>>()

export const localize: HostFunction = (kind, givenLocales, givenOptions, method, ...values) => {
  const locales = localesOf(givenLocales)
  const options = optionsOf(givenOptions)
  const [first] = values
  if (kind === 'String') return limited(first)[oneOf(textMethods, method)](locales)
  if (kind === 'Date') return new Date(Number(first))[oneOf(dateMethods, method)](locales, options)
  const read = typeof kind === 'string' && Object.hasOwn(services, kind) ? services[kind] : undefined
  if (read === undefined) throw new TypeError('There is no such service of Intl.')
  const Service = Intl[kind as 'NumberFormat']
  if (method === 'supportedLocalesOf') return Service.supportedLocalesOf(locales)
  const key = JSON.stringify([kind, locales, options])
  let formatter = formatters.get(key)
  if (formatter === undefined) {
    formatter = new (Service as unknown as Service)(locales, options) as Record<string, Method>
    if (formatters.size >= bounds.formatters) formatters.clear()
    formatters.set(key, formatter)
  }
  const called = formatter[oneOf(methods as readonly string[], method)]
  if (called === undefined) throw new TypeError('There is no such method of Intl.')
  return Reflect.apply(
    called,
    formatter,
    values.map((value, index) => read(value, index)),
  ) as JsonValue
}

function oneOf<Name extends string>(names: readonly Name[], wanted: unknown): Name {
  const found = names.find(name => name === wanted)
  if (found === undefined) throw new TypeError('There is no such method of Intl.')
  return found
}

function localesOf(given: unknown): string[] | string {
  if (given === null || given === undefined) return defaultLocale
  const list = listOf(given)
  if (!list.every(locale => typeof locale === 'string' && locale.length <= 100))
    throw new TypeError('Locales must be texts such as "de-DE".')
  return list as string[]
}

function optionsOf(given: unknown): Record<string, string> | undefined {
  if (given === null || given === undefined) return undefined
  const values = typeof given === 'object' ? Object.values(given) : [given]
  const isPlain = (value: unknown) =>
    typeof value === 'object' ? value === null : String(value).length <= 100
  if (typeof given !== 'object' || values.length > bounds.localizedValues || !values.every(isPlain))
    throw new TypeError('Options must be an object of texts, numbers and booleans.')
  return given as Record<string, string>
}

function listOf(given: unknown): unknown[] {
  const list = [given].flat()
  if (list.length > bounds.localizedValues)
    throw new TypeError(`This list has more than ${bounds.localizedValues} entries.`)
  return list
}

function limited(value: unknown): string {
  const text = typeof value === 'string' ? value : String(value)
  if (text.length > bounds.localizedCharacters)
    throw new TypeError(`This text is longer than ${bounds.localizedCharacters} characters.`)
  return text
}

/** Reads a number, exactly if it is decimal. Larger exponents could mean more digits than memory holds. */
function numeric(value: unknown): unknown {
  if (typeof value !== 'string') return Number(value)
  const text = limited(value).trim()
  if (/[\d.]{300}/.test(text)) throw new RangeError('This number has 300 digits or more.')
  return /^[+-]?[\d.]+(?:e[+-]?\d{1,3})?$/i.test(text) ? text : Number(text)
}
