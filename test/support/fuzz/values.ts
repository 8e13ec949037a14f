import type { Random } from '../random.ts'
import type { Description, Schema } from './description.ts'

/** What values are made from, apart from their schema. */
export interface Material {
  random: Random
  description: Pick<Description, 'resolve'>
  /** Addresses of this machine where something answers, or nothing does. */
  urls: readonly string[]
  /** An id that is known for a field of this name. */
  idFor(name: string): string | undefined
}

const words = [
  'tide',
  'harbour',
  'price list',
  'Ünïcödé ✓',
  'a',
  '漢字',
  '{{name}}',
  "O'Neil",
  'x'.repeat(300),
]

/** Values that fit no field, or fit it badly. */
export const oddValues: readonly unknown[] = [
  ...[null, true, 0, -1, 0.5, 1e308, '', ' \t\n', '\u202e👩🏽‍🚀', 'x'.repeat(5000), '9'.repeat(400)],
  ...["' or '1'='1", '{{7*7}}', '../../../../etc/passwd', 'file:///etc/passwd', '__proto__', 'constructor'],
  ...['http://169.254.169.254/', 'select 1; select 2', 'select x from none', '\u0000', '\ud800'],
  ...[[], {}, [[[[]]]], [null], Array(100).fill('x'), { toString: 1, valueOf: 2 }, { $ne: null }],
]

/** A value that fits the schema, as far as one can tell from it. */
export function fitting(material: Material, schema: Schema, name = '', depth = 0): unknown {
  const { random, description } = material
  const { const: only, enum: choices, examples, anyOf, type, ...rest } = description.resolve(schema)
  if (only !== undefined) return only
  if (choices !== undefined) return random.pick(choices)
  if (examples !== undefined && random.next() < 0.5) return localized(material, random.pick(examples))
  if (anyOf !== undefined) return fitting(material, random.pick(anyOf), name, depth + 1)
  switch (Array.isArray(type) ? random.pick(type) : type) {
    case 'string':
      return text(material, rest, name)
    case 'integer':
      return number(random, rest, Math.floor)
    case 'number':
      return number(random, rest, value => value)
    case 'boolean':
      return random.next() < 0.5
    case 'null':
      return null
    case 'array':
      return Array.from({ length: Math.floor(random.next() * 3) }, () =>
        fitting(material, rest.items ?? {}, name, depth + 1),
      )
    case 'object':
      return object(material, rest, depth)
    default:
      return random.pick(['x', 1, false])
  }
}

function text({ random, urls, idFor }: Material, schema: Schema, name: string): string {
  const known = idFor(name)
  if (known !== undefined && random.next() < 0.9) return known
  if (/url/i.test(name)) return random.pick(urls)
  if (schema.format === 'email') return `user-${Math.floor(random.next() * 1000)}@example.com`
  if (schema.format === 'date-time') return new Date(Math.floor(random.next() * 2e12)).toISOString()
  if (schema.pattern?.startsWith('^') === true) return `n-${Math.floor(random.next() * 1e9)}`
  return random.pick(words)
}

function number(random: Random, { minimum = -5, maximum = 1000 }: Schema, round: (value: number) => number) {
  const most = Math.min(maximum, minimum + 1000)
  return Math.min(most, round(minimum + random.next() * (most - minimum + 1)))
}

function object(material: Material, schema: Schema, depth: number): Record<string, unknown> {
  const { random } = material
  const { properties = {}, required = [], additionalProperties } = schema
  const chosen = Object.entries(properties).filter(
    ([name]) => required.includes(name) || random.next() < 0.3 / (depth + 1),
  )
  const value = Object.fromEntries(
    chosen.map(([name, inner]) => [name, fitting(material, inner, name, depth + 1)]),
  )
  if (typeof additionalProperties === 'object' && random.next() < 0.5)
    value[random.pick(words)] = fitting(material, additionalProperties, '', depth + 1)
  return value
}

/** Examples name servers of the world, of which tests know nothing. */
export function localized({ random, urls }: Material, example: unknown): unknown {
  const address = new URL(random.pick(urls))
  return JSON.parse(JSON.stringify(example).replaceAll(/https:\/\/[\w.]+/g, address.origin))
}

/** The same body with one thing wrong, or with something that it does not know. */
export function spoiled({ random }: Material, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || random.next() < 0.1) return random.pick(oddValues)
  const names = Object.keys(body)
  const name = names.length === 0 ? 'name' : random.pick(names)
  const { [name]: value, ...rest } = body as Record<string, unknown>
  const kind = random.next()
  if (kind < 0.2) return rest
  if (kind < 0.4) return { ...rest, [`${name.slice(0, -1)}_${name.slice(-1)}`]: value }
  if (kind < 0.5) return { ...body, [random.pick(words)]: random.pick(oddValues) }
  return { ...rest, [name]: random.pick(oddValues) }
}
