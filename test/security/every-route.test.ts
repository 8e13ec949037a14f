/**
 * Sends to every route of the service what no client should send. Whatever it is, the answer is the caller's fault or a
 * success, tells nothing of our code, and the process goes on. The routes come from the description of the API, so that
 * a new one is included without being named here.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '../support/agents.ts'
import { type Answer, buildApp, type CallOptions, type TestApp } from '../support/build-app.ts'
import { type PaymentProvider, startPaymentProvider } from '../support/payment-provider.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { isInRotation } from '../support/rotation.ts'
import { formOf } from '../support/upload.ts'

interface Schema {
  type?: string
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  minimum?: number
  format?: string
  $ref?: string
}

interface Operation {
  method: string
  path: string
  query: string[]
  /** The schema of the JSON body. */
  body: Schema | undefined
  isForm: boolean
}

let app: TestApp
let provider: PaymentProvider
let operations: Operation[]
/** Agents that requests were sent to so far. */
let attacked = 0

beforeAll(async () => {
  provider = await startPaymentProvider()
  // Of an empty list nobody knows what it could be sorted by.
  const card = {
    id: 'ic_1',
    last4: '4242',
    brand: 'Visa',
    status: 'active',
    created: 1,
    spending_controls: {},
  }
  provider.cards.push(card)
  app = await buildApp({
    environment: {
      DEV_USER: 'dev@example.com',
      PROVIDER_API_KEY: 'sk_test_attacked',
      PROVIDER_API_BASE: provider.url,
    },
  })
  operations = await readOperations()
})

afterAll(async () => {
  await app.close()
  await provider[Symbol.asyncDispose]()
})

async function readOperations(): Promise<Operation[]> {
  interface Described {
    parameters?: { in: string; name: string }[]
    requestBody?: { content: Record<string, { schema: Schema }> }
  }
  const { body } = await app.call<{ paths: Record<string, Record<string, Described>> }>(
    'GET',
    '/openapi.json',
  )
  // Its answer lasts as long as its reader stays.
  const { '/api/agents/{id}/events': _, ...paths } = body.paths
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter(parameter => parameter.in === 'query').map(({ name }) => name),
      body: requestBody?.content['application/json']?.schema,
      isForm: requestBody?.content['multipart/form-data'] !== undefined,
    })),
  )
}

const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

/** Values that fit no field, or fit it badly. */
const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  Number.MAX_SAFE_INTEGER + 1,
  '',
  ' \t\n',
  '\u0000',
  '\ud800',
  '\u202e👩🏽‍🚀',
  'x'.repeat(50_000),
  '9'.repeat(400),
  "' or '1'='1",
  '{{7*7}}',
  '../../../../etc/passwd',
  'file:///etc/passwd',
  '__proto__',
  'constructor',
  [],
  {},
  [[[[]]]],
  [null],
  Array(1000).fill('x'),
  { toString: 1, valueOf: 2, hasOwnProperty: 3 },
  { $ne: null },
  JSON.parse(deep(500)),
]

/** Whole bodies, as they are sent. */
const oddBodies: readonly string[] = [
  '',
  'null',
  'true',
  '7',
  '"x"',
  '[]',
  '[[]]',
  '{}',
  '{',
  '{"a":}',
  '{"a":1e400}',
  '{"a":NaN}',
  "{'a':1}",
  '\uFEFF{}',
  '\u0000',
  '{"":""}',
  '{"a":"\\ud800"}',
  '{"__proto__":{"polluted":true}}',
  '{"a":{"__proto__":{"polluted":true}}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"__proto__":null}',
  deep(2000),
  '['.repeat(100_000),
  `{"a":"${'x'.repeat(1024 * 1024)}"}`,
  `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":${n}`).join(',')}}`,
]

const oddTypes: readonly string[] = [
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  'text/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  ';',
  '*/*',
]

const oddSegments: readonly string[] = [
  '%00',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '..%5c..%5cwindows',
  "'%20or%201=1--",
  '__proto__',
  'constructor',
  'undefined',
  'null',
  '-1',
  '%F0%9F%90%B5',
  '%ed%a0%80',
  '%zz',
  '*',
  ':id',
  'x'.repeat(400),
  'x'.repeat(4000),
]

/** The value as it can stand in a query or form. */
function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed()
}

/** A value that the schema takes, of few kinds. */
function sample(schema: Schema): unknown {
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf !== undefined) return sample(schema.anyOf[0] ?? {})
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return false
  if (schema.type === 'array') return []
  if (schema.type === 'string') return schema.format === 'email' ? 'somebody@example.com' : 'some-text'
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, sample(inner)]),
  )
}

function pathOf(path: string, agentId: string, segment: () => string): string {
  return path.replace('{id}', agentId).replaceAll(/\{\w+\}|\*/g, segment)
}

function judge(operation: Operation, sent: unknown, { status, headers, body }: Answer): void {
  const told = typeof body === 'string' ? body : JSON.stringify(body)
  const what = `${operation.method} ${operation.path} ${JSON.stringify(sent).slice(0, 300)} → ${status} ${told.slice(0, 300)}`
  expect(status, what).toBeLessThan(500)
  expect(told, what).not.toMatch(/node_modules|\.ts:\d+|SQLITE|Error: /)
  expect(headers['x-request-id'], what).toBeDefined()
  if (status < 400) return
  const type = String(headers['content-type'])
  if (type.startsWith('text/plain')) expect(status, what).toBe(403)
  // People open these.
  else if (type.startsWith('text/html')) expect(told, what).toMatch(/<p role="status">\S/)
  else expect(body, what).toMatchObject({ error: expect.anything() })
}

/** Requests that could have been sent so far, counted for each route from another number. */
let requests = 0

/** Sends the request if this run takes it. */
async function attack(operation: Operation, path: string, options: CallOptions): Promise<void> {
  requests += 1
  if (!isInRotation(requests)) return
  const answer = await app.call(operation.method, path, options)
  judge(operation, { path, ...options }, answer)
}

/** Sends the same number of bad requests of one kind to every route, each to an agent of its own. */
async function attackAll(
  seed: number,
  kind: (random: Random, operation: Operation, agentId: string) => Promise<void>,
): Promise<void> {
  const random = seededRandom(seed)
  expect(operations.length).toBeGreaterThan(25)
  for (const [index, operation] of operations.entries()) {
    requests = index
    await kind(random, operation, await makeAgent(app))
    attacked += 1
  }
}

async function expectUnharmed(): Promise<void> {
  expect(Object.prototype).not.toHaveProperty('polluted')
  expect(app.logged.filter(line => JSON.parse(line).level >= 50)).toEqual([])
  for (const path of ['/healthz', '/readyz']) expect((await app.call('GET', path)).status).toBe(200)
  const { body } = await app.call<{ meta: { total: number } }>('GET', '/api/agents')
  expect(body.meta.total).toBeGreaterThan(attacked / 2)
}

describe('every route, and then the service, bears', () => {
  it('whole bodies of every kind, under every content type', async () => {
    await attackAll(1, async (random, operation, agentId) => {
      const path = pathOf(operation.path, agentId, () => 'x')
      for (const payload of oddBodies)
        await attack(operation, path, { payload, headers: { 'content-type': 'application/json' } })
      for (const type of oddTypes)
        await attack(operation, path, { payload: random.pick(oddBodies), headers: { 'content-type': type } })
    })
    await expectUnharmed()
  })

  it('every field of a body with a value that does not fit', async () => {
    await attackAll(2, async (random, operation, agentId) => {
      const fields = Object.keys(operation.body?.properties ?? {})
      const path = pathOf(operation.path, agentId, () => 'x')
      for (const field of fields) {
        const fitting = sample(operation.body ?? {}) as Record<string, unknown>
        const { [field]: _left, ...rest } = fitting
        await attack(operation, path, { body: rest })
        for (let n = 0; n < 6; n += 1)
          await attack(operation, path, { body: { ...fitting, [field]: random.pick(oddValues) } })
      }
    })
    await expectUnharmed()
  })

  it('every parameter of a query with a value that does not fit', async () => {
    await attackAll(3, async (random, operation, agentId) => {
      const path = pathOf(operation.path, agentId, () => 'x')
      for (const name of operation.query) {
        for (let n = 0; n < 8; n += 1) {
          const value = textOf(random.pick(['Infinity', 'NaN', '1e999', '-0', ...oddValues])).slice(0, 4000)
          await attack(operation, `${path}?${name}=${encodeURIComponent(value)}`, {})
        }
        await attack(operation, `${path}?${name}=a&${name}=b&${name}[]=c&${name}[x]=d&__proto__=e`, {})
        await attack(operation, `${path}?${name}=%zz&${name}`, {})
      }
    })
    await expectUnharmed()
  })

  it('paths that lead elsewhere', async () => {
    await attackAll(4, async (random, operation, agentId) => {
      for (const segment of oddSegments) {
        await attack(
          operation,
          pathOf(operation.path, segment, () => random.pick(oddSegments)),
          {},
        )
        await attack(
          operation,
          pathOf(operation.path, agentId, () => segment),
          {},
        )
        await attack(operation, `${pathOf(operation.path, agentId, () => 'x')}/${segment}`, {})
      }
    })
    await expectUnharmed()
  })

  it('forms in which nothing is right', async () => {
    const forms = operations.filter(({ isForm }) => isForm)
    expect(forms.length).toBeGreaterThan(0)
    const random = seededRandom(5)
    for (const operation of forms) {
      const path = pathOf(operation.path, await makeAgent(app), () => 'x')
      for (const value of oddValues) {
        const text = textOf(value)
        const name = `${text.slice(0, 200)}${random.pick(['', '.txt', '.pdf', '.csv', '.docx', '.json'])}`
        const field = random.pick(['file', 'name', 'chunk_size', 'overlap', 'method', 'type', '__proto__'])
        const form = await formOf([
          [field, text],
          ['file', new File([text], name)],
        ])
        await attack(operation, path, form)
      }
    }
    await app.service.infrastructure.runner.idle()
    await expectUnharmed()
  })
})

describe.skipIf(!process.env.REAL_FIXTURES)('every route bears the collections (needs REAL_FIXTURES)', () => {
  const read = (name: string) => readFileSync(`${process.env.REAL_FIXTURES}/security/${name}`, 'utf8')
  const lines = (name: string) =>
    read(name)
      .split('\n')
      .filter(line => line !== '')

  it('of injections, in what lists sort by and search for', async () => {
    const injections = lines('sqli-auth-bypass.txt')
    expect(injections.length).toBeGreaterThan(50)
    const lists = operations.filter(({ query }) => query.includes('sort'))
    expect(lists.length).toBeGreaterThan(5)
    const agentId = await makeAgent(app)
    for (const [at, operation] of lists.entries()) {
      const path = pathOf(operation.path, agentId, () => 'x')
      const total = async (query = '') => {
        const { body } = await app.call<{ meta?: { total: number } }>('GET', `${path}${query}`)
        return body.meta?.total
      }
      const all = await total()
      // A list of what belongs to something that is not there is not found, whatever is asked of it.
      const refusal = all === undefined ? 404 : 400
      for (const injection of injections.filter((_injection, number) => isInRotation(at + number))) {
        const value = encodeURIComponent(injection)
        for (const name of ['sort', 'order', 'from', 'to', 'cursor']) {
          const answer = await app.call('GET', `${path}?${name}=${value}`)
          judge(operation, { name, injection }, answer)
          expect(answer.status, `${path} ${name} ${injection}`).toBe(refusal)
        }
        const found = (await total(`?search=${value}`)) ?? 0
        expect(found, `${path} ${injection}`).toBeLessThanOrEqual(all ?? 0)
      }
      expect(await total()).toBe(all)
    }
    await expectUnharmed()
  })

  it('of naughty strings, in every field, query and path', async () => {
    const strings = (JSON.parse(read('blns.json')) as string[]).map(text => text.toWellFormed())
    expect(strings.length).toBeGreaterThan(100)
    await attackAll(6, async (random, operation, agentId) => {
      const path = pathOf(operation.path, agentId, () => encodeURIComponent(random.pick(strings)))
      for (let n = 0; n < 25; n += 1) {
        const naughty = random.pick(strings)
        const parameter = operation.query.length > 0 ? random.pick(operation.query) : 'x'
        const fields = Object.entries(operation.body?.properties ?? {})
        const body = Object.fromEntries(
          fields.map(([name, schema]) => [name, schema.type === 'string' ? naughty : sample(schema)]),
        )
        const query = `?${parameter}=${encodeURIComponent(naughty)}`
        await attack(operation, `${path}${query}`, operation.body === undefined ? {} : { body })
      }
    })
    await expectUnharmed()
  })

  it('of path traversals, behind every path and as the name of a file', async () => {
    const traversals = lines('path-traversal.txt').map(line =>
      line.replaceAll(/[^\x21-\x7e]/g, encodeURIComponent),
    )
    expect(traversals.length).toBeGreaterThan(50)
    await attackAll(7, async (random, operation, agentId) => {
      for (let n = 0; n < 20; n += 1) {
        const traversal = random.pick(traversals)
        await attack(operation, `${pathOf(operation.path, agentId, () => traversal)}`, {})
        await attack(operation, `${pathOf(operation.path, agentId, () => 'x')}/${traversal}`, {})
      }
    })
    const upload = operations.find(({ isForm }) => isForm)
    const path = pathOf(upload?.path ?? '', await makeAgent(app), () => 'x')
    let accepted = 0
    const names = traversals.slice(0, 60).filter((_name, number) => isInRotation(number))
    for (const traversal of names) {
      const form = await formOf([['file', new File(['Some text.'], `${traversal}.txt`)]])
      const { status } = await app.call('POST', path, form)
      expect([201, 415]).toContain(status)
      if (status === 201) accepted += 1
    }
    expect(accepted).toBeGreaterThan(names.length / 2)
    await app.service.infrastructure.runner.idle()
    await expectUnharmed()
  })
})
