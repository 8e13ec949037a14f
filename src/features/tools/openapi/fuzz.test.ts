import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AppError } from '#platform/errors.ts'
import { unstorable } from '#platform/http/requests/storable-text.ts'
import { matches } from '#platform/schema-check.ts'
import { makeOpenApiDocument } from '#test/support/openapi-document.ts'
import { type Random, seededRandom } from '#test/support/random.ts'
import { buildHttpRequest } from '../calling/build-request.ts'
import { validateHttpConfiguration } from '../calling/validate-configuration.ts'
import type { ImportedDocument, ImportedOperation } from './imported-document.ts'
import { readOpenApi } from './read-openapi.ts'

const fixtures = process.env.REAL_FIXTURES ?? ''
const folder = join(fixtures, 'openapi')
const documentUrl = 'https://api.example.com/spec/openapi.json'
/** Larger ones are mutated in the same ways, only more slowly. */
const largest = 120_000

function nested(depth: number): unknown {
  let value: unknown = 'deep'
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { properties: value }
  return value
}

function cyclic(): unknown {
  const value: Record<string, unknown> = { type: 'object' }
  value.properties = { again: value, list: [value] }
  value.allOf = [value]
  return value
}

const junkValues: (() => unknown)[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    3.7,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    'yes',
    '\u0000',
    '\ud800x',
    '__proto__',
  ],
  ...[
    '/',
    '..',
    '/../..',
    '{',
    '{}',
    '{x}',
    '#',
    '?a=b',
    'http://[',
    '\\',
    'a\r\nb: c',
    '(a+)+$',
    '[',
    'ü',
    'path',
    'array',
  ],
  ...[
    [],
    {},
    [[]],
    [{}],
    ['string', 'string', 7],
    { $ref: '#' },
    { $ref: '#/paths' },
    { $ref: '' },
    { $ref: 7 },
    { $ref: '#/%' },
  ],
  ...[
    { $ref: '#/components/schemas/Pet' },
    { $ref: 'https://other.example.com/x.json' },
    { $ref: '#/components/parameters/~1' },
  ],
  ...['a'.repeat(100_000), Array.from({ length: 5000 }, (_, index) => `v${index}`)],
].map(value => () => structuredClone(value))
junkValues.push(
  () => nested(30_000),
  cyclic,
  () => JSON.parse('{"__proto__": {"type": "object"}, "constructor": 1}'),
)

const junkNames = [
  '__proto__',
  'constructor',
  'toString',
  '',
  '\u0000',
  '\udc00',
  '$ref',
  'a b',
  '/{',
  '/{a}/{a}',
  'x-y',
  '7',
  '/é',
  '/a\nb',
]

type Container = Record<string, unknown> | unknown[]

/** Every object and list of a value, each once. */
function containersOf(value: unknown): Container[] {
  const found = new Set<Container>()
  const open = [value]
  for (let next = open.pop(); next !== undefined || open.length > 0; next = open.pop()) {
    if (typeof next !== 'object' || next === null || found.has(next as Container)) continue
    found.add(next as Container)
    open.push(...Object.values(next))
  }
  return [...found]
}

function mutate(document: unknown, random: Random): void {
  const containers = containersOf(document).filter(one => Object.keys(one).length > 0)
  const container = random.pick(containers) as Record<string, unknown>
  const name = random.pick(Object.keys(container))
  const kind = random.next()
  if (kind < 0.15) delete container[name]
  else if (kind < 0.35 && !Array.isArray(container))
    define(container, random.pick(junkNames), container[name])
  else if (kind < 0.5) define(container, name, random.pick(containers))
  else define(container, name, random.pick(junkValues)())
}

/** `__proto__` becomes a member like any other, as JSON.parse makes it. */
function define(container: object, name: string, value: unknown): void {
  Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true })
}

const compiled = new Set<string>()

function requireUsable(read: ImportedDocument): void {
  const text = JSON.stringify(read)
  expect(unstorableIn(read)).toEqual([])
  expect(text).not.toContain('"__proto__":')
  expect(new Set(read.operations.map(({ name }) => name)).size).toBe(read.operations.length)
  for (const operation of read.operations) requireCallable(operation)
}

function unstorableIn(value: unknown): string[] {
  if (typeof value === 'string') return unstorable(value) === undefined ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [...unstorableIn(name), ...unstorableIn(inner)])
}

function requireCallable({ configuration, isEnabled, name, description }: ImportedOperation): void {
  expect(name).not.toBe('')
  expect(description).not.toBe('')
  const text = JSON.stringify(configuration)
  expect(text.length).toBeLessThan(120_000)
  if (compiled.has(text)) return
  compiled.add(text)
  if (isEnabled) expect(validateHttpConfiguration(configuration)).toBeUndefined()
  // Throws if the schema does not compile.
  if (configuration.parameters) matches(configuration.parameters, {})
  const names = Object.keys(configuration.parameters?.properties ?? {})
  for (const value of ['a/../b', ['x', '..'], { deep: { '..': '?' } }, null, 7]) {
    try {
      const { url } = buildHttpRequest(configuration, Object.fromEntries(names.map(one => [one, value])))
      expect(url.startsWith(configuration.baseUrl)).toBe(true)
      expect(URL.parse(url)?.origin).toBe(new URL(configuration.baseUrl).origin)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
    }
  }
}

function readOrRefusal(document: unknown): ImportedDocument | undefined {
  try {
    return readOpenApi({ document, documentUrl })
  } catch (error) {
    if (error instanceof AppError && error.code === 'VALIDATION_ERROR') return undefined
    throw error
  }
}

function attack(document: unknown, seed: number, rounds: number): void {
  const random = seededRandom(seed)
  for (let round = 0; round < rounds; round += 1) {
    const copy = structuredClone(document)
    for (let times = 1 + Math.floor(random.next() * 4); times > 0; times -= 1) mutate(copy, random)
    const read = readOrRefusal(copy)
    if (read !== undefined) requireUsable(read)
  }
  expect(Object.keys(Object.prototype)).toEqual([])
}

test('whatever a document holds, it is read or refused', () => {
  attack(makeOpenApiDocument('https://api.example.com'), 1, 300)
})

describe.skipIf(!existsSync(folder))('mutated real documents (needs REAL_FIXTURES)', () => {
  const names = existsSync(folder)
    ? readdirSync(folder).filter(name => /^(?!expected|REFUSE).*\.json$/.test(name))
    : []
  const texts = names.map(name => [name, readFileSync(join(folder, name), 'utf8')] as const)
  test.for(texts.filter(([, text]) => text.length < largest))('%s', ([, text]) => {
    attack(JSON.parse(text), text.length, 50)
  })
})
