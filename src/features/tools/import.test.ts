import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import type { TestApp } from '#test/support/build-app.ts'
import { type Reply, startModelServer } from '#test/support/model-server.ts'
import { setToolsStage, type ToolsStage } from '#test/support/tools-stage.ts'
import type { ImportAnswer } from './import.schema.ts'

let stage: ToolsStage
let app: TestApp

beforeAll(async () => {
  stage = await setToolsStage()
  app = stage.app
})

afterAll(() => stage[Symbol.asyncDispose]())

interface Refusal {
  code: string
  message: string
  details: { field?: string }
}

const importInto = (path: string, body: unknown) =>
  app.call<ImportAnswer & { error: Refusal }>('POST', `${path}/import-openapi`, { body })

async function imported(path: string, body: unknown): Promise<ImportAnswer> {
  const { status, body: answered } = await importInto(path, body)
  expect(status, JSON.stringify(answered).slice(0, 500)).toBe(201)
  return answered
}

const call = (path: string, id: string, given: unknown) =>
  app.call<{ success: boolean; data: { result?: unknown; error?: string } }>('POST', `${path}/${id}/test`, {
    body: { arguments: given },
  })

/** A shop with one credential for all but its list of items. */
function shop(paths: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
  return {
    openapi: '3.0.3',
    info: { title: 'Shop', version: '1' },
    servers: [{ url: `${stage.server.url}/v1` }],
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Shop-Key' } } },
    paths: {
      '/items/{itemId}': {
        parameters: [{ name: 'itemId', in: 'path', required: true, schema: { type: 'string' } }],
        get: {
          operationId: 'getItem',
          summary: 'Reads an item',
          parameters: [{ name: 'fields', in: 'query', schema: { type: 'array', items: { type: 'string' } } }],
        },
        put: {
          requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
        },
      },
      ...paths,
    },
    ...more,
  }
}

const yaml = (title: string) => `openapi: 3.1.0
info: { title: ${title}, version: '1' }
servers: [{ url: /api }]
paths:
  /ping:
    get: { operationId: ping }
`

describe('an import', () => {
  it(`makes a tool of each operation ${row('POST /api/agents/{id}/tools/import-openapi')}`, async () => {
    const path = await stage.newAgent()
    const { status, body } = await importInto(path, { spec: shop() })
    expect(status).toBe(201)
    expect(body).toMatchObject({ success: true, skipped: [], warnings: [] })
    expect(body.data).toMatchObject([
      {
        id: expect.any(String),
        name: 'getItem',
        description: expect.stringContaining('Reads an item'),
        type: 'http',
        isEnabled: true,
        cluster: 'Shop',
        configuration: {
          baseUrl: `${stage.server.url}/v1`,
          pathTemplate: '/items/{itemId}',
          method: 'GET',
          pathParams: ['itemId'],
          queryParams: ['fields'],
        },
      },
      { name: 'put_items_itemId', configuration: { method: 'PUT' } },
    ])
    const { body: list } = await app.call<{ data: unknown[] }>('GET', path)
    expect(list.data).toEqual(body.data)
  })

  it('fetches a document, in JSON or YAML, and resolves its relative servers against its address', async () => {
    const path = await stage.newAgent()
    stage.replyWith(() => ({ text: yaml('Pinger'), headers: { 'content-type': 'application/yaml' } }))
    const { data } = await imported(path, { url: `${stage.server.url}/docs/openapi.yaml`, cluster: 'Mine' })
    expect(data).toMatchObject([
      {
        name: 'ping',
        cluster: 'Mine',
        isEnabled: true,
        configuration: { baseUrl: `${stage.server.url}/api` },
      },
    ])
    const [{ id = '' } = {}] = data
    expect((await call(path, id, {})).body).toMatchObject({ success: true })
    expect(stage.server.requests.at(-1)).toMatchObject({ method: 'GET', path: '/api/ping' })
  })

  it('takes a document as text, too, and disables what it has no address for', async () => {
    const path = await stage.newAgent()
    const { data, warnings } = await imported(path, { spec: yaml('Nowhere') })
    expect(data).toMatchObject([{ name: 'ping', isEnabled: false }])
    expect(warnings).toEqual([{ operation: expect.stringContaining('/ping'), warning: expect.any(String) }])
  })

  it('without an operation makes nothing', async () => {
    const path = await stage.newAgent()
    const { data } = await imported(path, { spec: { ...shop(), paths: {} } })
    expect(data).toEqual([])
  })

  it('says what it left out, and why', async () => {
    const path = await stage.newAgent()
    const { data, skipped } = await imported(path, {
      spec: shop({ '/elsewhere': { $ref: 'https://example.com/other.json#/paths/~1elsewhere' } }),
    })
    expect(data).toHaveLength(2)
    expect(skipped).toEqual([
      { operation: expect.stringContaining('/elsewhere'), reason: expect.any(String) },
    ])
  })

  describe('of a document that refers to others', () => {
    const whole = 'paths: { "/pets/{petId}": { $ref: "parts/pet.yaml" } }'
    const root = `openapi: 3.1.0\ninfo: { title: Pets, version: "1" }\n${whole}`
    const pet = 'parameters: [{ $ref: "../shared.yaml#/PetId" }]\nget: { operationId: getPet }'
    const petId = 'PetId: { name: petId, in: path, required: true, schema: { type: integer } }'

    /** What the server has, by path; `importAll` imports its document. */
    function serve(files: Record<string, Reply>) {
      const before = stage.server.requests.length
      stage.replyWith(({ path }) => files[path] ?? { status: 404, text: 'none' })
      return {
        importAll: async () => imported(await stage.newAgent(), { url: `${stage.server.url}/api/root.yaml` }),
        asked: () => stage.server.requests.slice(before).map(({ path }) => path),
      }
    }

    it('fetches each of them once', async () => {
      const { importAll, asked } = serve({
        '/api/root.yaml': { text: root },
        '/api/parts/pet.yaml': { text: pet },
        '/api/shared.yaml': { text: petId },
      })
      const { data, skipped, warnings } = await importAll()
      expect({ skipped, warnings }).toEqual({ skipped: [], warnings: [] })
      expect(data).toMatchObject([
        { name: 'getPet', configuration: { pathParams: ['petId'], baseUrl: stage.server.url } },
      ])
      expect(asked()).toEqual(['/api/root.yaml', '/api/parts/pet.yaml', '/api/shared.yaml'])
    })

    it('skips what needs one that is not there, is at another origin, or leads away', async () => {
      const paths = `paths:
  /a: { $ref: none.yaml }
  /b: { $ref: "http://localhost:1/b.yaml" }
  /c: { $ref: away.yaml }
  /d: { get: { operationId: whole } }`
      const { importAll, asked } = serve({
        '/api/root.yaml': { text: `openapi: 3.1.0\n${paths}` },
        '/api/away.yaml': { status: 302, headers: { location: '/api/elsewhere.yaml' }, text: '' },
      })
      const { data, skipped } = await importAll()
      expect(data.map(({ name }) => name)).toEqual(['whole'])
      expect(skipped).toEqual([
        { operation: '/a', reason: expect.stringContaining('which answered with status 404') },
        { operation: '/b', reason: expect.stringContaining('at another origin') },
        { operation: '/c', reason: expect.stringContaining("which can't be fetched") },
      ])
      expect(asked().toSorted()).toEqual(['/api/away.yaml', '/api/none.yaml', '/api/root.yaml'])
    })

    it('fetches at most 200 of them', async () => {
      const files: Record<string, Reply> = {}
      const lines = Array.from({ length: 250 }, (_, number) => {
        files[`/api/${number}.json`] = { text: '{"get": {}}' }
        return `  /${number}: { $ref: ${number}.json }`
      })
      const text = `openapi: 3.1.0\npaths:\n${lines.join('\n')}`
      const { importAll, asked } = serve({ ...files, '/api/root.yaml': { text } })
      const { data, skipped } = await importAll()
      expect(data).toHaveLength(200)
      expect(skipped).toHaveLength(50)
      expect(skipped[0]?.reason).toContain('which was not fetched')
      expect(asked()).toHaveLength(201)
    })

    it('fetches at most 10 MB of them', async () => {
      const large = `{"get": {}, "x-filler": "${'x'.repeat(3_000_000)}"}`
      const files: Record<string, Reply> = {}
      const lines = Array.from({ length: 5 }, (_, number) => {
        files[`/api/${number}.json`] = { text: large }
        return `  /${number}: { $ref: ${number}.json }`
      })
      const text = `openapi: 3.1.0\npaths:\n${lines.join('\n')}`
      const { data, skipped } = await serve({ ...files, '/api/root.yaml': { text } }).importAll()
      expect(data).toHaveLength(3)
      for (const { reason } of skipped) expect(reason).toContain('beyond the limit of 10 MB')
    })

    it('reads none for a document that has no address', async () => {
      const { asked } = serve({})
      const { data, skipped } = await imported(await stage.newAgent(), { spec: root })
      expect(data).toEqual([])
      expect(skipped).toMatchObject([{ reason: expect.stringContaining('outside of the document') }])
      expect(asked()).toEqual([])
    })
  })

  it('done again updates tools by their names, and leaves the choices of people', async () => {
    const path = await stage.newAgent()
    const first = await imported(path, { spec: shop() })
    const [getItem, putItem] = first.data
    const url = `${path}/${getItem?.id}`
    await app.call('PUT', url, { body: { isEnabled: false, requiresApproval: true } })
    const paths = { '/new': { get: { operationId: 'fresh' } } }
    const spec = shop(paths)
    Object.assign(spec.paths['/items/{itemId}'].get, { summary: 'Reads an item anew' })
    const second = await imported(path, { spec, requiresApproval: true })
    expect(second.data).toMatchObject([
      {
        id: getItem?.id,
        description: expect.stringContaining('anew'),
        isEnabled: false,
        requiresApproval: true,
      },
      { id: putItem?.id, isEnabled: true, requiresApproval: false },
      { name: 'fresh', isEnabled: true, requiresApproval: true },
    ])
    const third = await imported(path, { spec: shop() })
    expect(third.warnings).toEqual([
      { operation: 'fresh', warning: expect.stringContaining('not in the document') },
    ])
    expect((await app.call<{ data: unknown[] }>('GET', path)).body.data).toHaveLength(3)
  })

  it('shows what it would do, and takes the tools that are chosen', async () => {
    const path = await stage.newAgent()
    const stored = async () =>
      (await app.call<{ data: { name: string }[] }>('GET', path)).body.data.map(({ name }) => name)
    const preview = await importInto(path, { spec: shop(), preview: true })
    expect(preview.status).toBe(200)
    const names = preview.body.data.map(({ name }) => name)
    expect(names).toHaveLength(2)
    expect(preview.body.credentials).toMatchObject([{ name: 'key', isSet: false }])
    expect(await stored()).toEqual([])
    const chosen = names.slice(0, 1)
    const { data, warnings } = await imported(path, { spec: shop(), names: [...chosen, 'unknown'] })
    expect([data.map(({ name }) => name), warnings, await stored()]).toEqual([chosen, [], chosen])
    // Those that are not chosen stay as they are.
    const again = await imported(path, { spec: shop(), names: names.slice(1, 2) })
    expect(again.warnings).toEqual([])
    expect(await stored()).toHaveLength(2)
  })

  it('never replaces a tool that a person made', async () => {
    const path = await stage.newAgent()
    const own = { name: 'getItem', type: 'javascript', configuration: { code: 'return 1' }, cluster: 'Shop' }
    await app.call('POST', path, { body: own })
    const { data, skipped } = await imported(path, { spec: shop() })
    expect(data).toHaveLength(1)
    expect(skipped).toEqual([
      { operation: 'GET /items/{itemId}', reason: expect.stringContaining('was not imported') },
    ])
  })

  it.each([
    ['nothing', 'url', {}],
    ['both forms', 'spec', { url: 'https://example.com/', spec: {} }],
    ['a document of an older kind', 'spec', { spec: { swagger: '2.0', info: {}, paths: {} } }],
    ['a document of no kind', 'spec', { spec: { hello: 'world' } }],
    ['text that is neither JSON nor YAML', 'spec', { spec: '{"openapi": ' }],
    ['a document that is no object', 'spec', { spec: [] }],
    ['an address of another scheme', 'url', { url: 'file:///etc/passwd' }],
    ['an address inside', undefined, { url: 'http://169.254.169.254/openapi.json' }],
    ['an address that is none', 'url', { url: 'example' }],
    ['an address where nobody answers', 'url', { url: 'http://127.0.0.1:10/openapi.json' }],
    ['a cluster of a wrong type', 'cluster', { spec: {}, cluster: 7 }],
    ['a field that is nearly one of its own', 'requires_approval', { spec: {}, requires_approval: true }],
  ])(`is refused for %s`, async (_case, field, body) => {
    const path = await stage.newAgent()
    const { status, body: refused } = await importInto(path, body)
    expect(status).toBe(400)
    expect(refused.error.message.length).toBeGreaterThan(10)
    expect(refused.error.code).toBe(field === undefined ? 'OUTBOUND_REFUSED' : 'VALIDATION_ERROR')
    expect(refused.error.details.field).toBe(field)
  })

  it(`refuses what is no JSON, and no body ${errorRow('tools', 400)}`, async () => {
    const path = await stage.newAgent()
    const post = (payload: string, type = 'application/json') =>
      app.call('POST', `${path}/import-openapi`, { payload, headers: { 'content-type': type } })
    expect((await post('{"spec":')).body).toMatchObject({ error: { code: 'MALFORMED_JSON' } })
    expect((await post('')).status).toBe(400)
    expect((await post('a=b', 'text/plain')).status).toBe(415)
    expect((await post('{"cluster":"\\u0000","spec":{}}')).status).toBe(400)
  })

  it('says when the address holds no document', async () => {
    const path = await stage.newAgent()
    stage.replyWith(() => ({ status: 404, text: 'gone' }))
    const { status, body } = await importInto(path, { url: `${stage.server.url}/openapi.json` })
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('status 404')])
  })
})

describe('credentials of a cluster', () => {
  const credentialsOf = (path: string, cluster = 'Shop') => `${path}/cluster/${cluster}/credentials`
  const fill = (path: string, body: unknown) => app.call('PUT', credentialsOf(path), { body })
  const seen = () => stage.server.requests.at(-1)?.headers['x-shop-key']

  it('are named by the import, filled in once, sent, and never told', async () => {
    const path = await stage.newAgent()
    const { data, credentials } = await imported(path, { spec: shop() })
    const named = { name: 'key', type: 'apiKey', in: 'header', parameter: 'X-Shop-Key' }
    expect(credentials).toEqual([{ ...named, isSet: false, origins: [stage.server.url] }])
    const filled = await fill(path, { key: 'shop-secret-1' })
    expect(filled.body).toEqual({
      success: true,
      data: [{ ...named, isSet: true, origins: [stage.server.url] }],
    })
    const [{ id = '' } = {}] = data
    await call(path, id, { itemId: 'a', fields: ['x', 'y'] })
    expect(seen()).toBe('shop-secret-1')
    expect(stage.server.requests.at(-1)?.path).toBe('/v1/items/a?fields=x&fields=y')
    const told = JSON.stringify([(await app.call('GET', credentialsOf(path))).body, app.logged])
    expect(told).not.toContain('shop-secret-1')
    await fill(path, { key: null })
    await call(path, id, { itemId: 'a' })
    expect(seen()).toBeUndefined()
  })

  it('are missed where the service asks for them', async () => {
    const path = await stage.newAgent()
    const { data } = await imported(path, { spec: shop() })
    stage.replyWith(() => ({ status: 401, json: { message: 'who are you?' } }))
    const { body } = await call(path, data[0]?.id ?? '', { itemId: 'a' })
    expect(body.data.error).toMatch(/nobody has filled in the credential key/)
  })

  it('stay with the server that they were given for, whatever is imported later', async () => {
    const path = await stage.newAgent()
    await imported(path, { spec: shop() })
    await fill(path, { key: 'shop-secret-2' })
    await using thief = await startModelServer(() => ({ json: {} }))
    const { data } = await imported(path, { spec: { ...shop(), servers: [{ url: thief.url }] } })
    await call(path, data[0]?.id ?? '', { itemId: 'a' })
    expect(thief.requests).toHaveLength(1)
    expect(thief.requests[0]?.headers).not.toHaveProperty('x-shop-key')
  })

  it('are refused in a wrong form, and under an unknown name', async () => {
    const path = await stage.newAgent()
    await imported(path, { spec: shop() })
    expect((await fill(path, { other: 'x' })).status).toBe(400)
    expect((await fill(path, { key: { username: 'a', password: 'b' } })).status).toBe(400)
    expect((await fill(path, { key: 7 })).status).toBe(400)
    expect((await fill(path, {})).status).toBe(400)
  })

  it(`go with their cluster ${errorRow('tools', 404)}`, async () => {
    const path = await stage.newAgent()
    await imported(path, { spec: shop() })
    await fill(path, { key: 'shop-secret-3' })
    await app.call('DELETE', `${path}/cluster/Shop`)
    expect((await app.call('GET', credentialsOf(path))).status).toBe(404)
    await imported(path, { spec: shop() })
    expect((await app.call('GET', credentialsOf(path))).body).toMatchObject({ data: [{ isSet: false }] })
  })
})

const fixtures = process.env.REAL_FIXTURES ?? ''
type Expected = Record<string, { operations: [string, string, string | null, string[], string[]][] }>

describe.skipIf(fixtures === '')('documents of real services (needs REAL_FIXTURES)', () => {
  const read = (name: string) => JSON.parse(readFileSync(`${fixtures}/openapi/${name}`, 'utf8'))
  const expected: Expected = fixtures === '' ? {} : read('expected.json')

  it.each(Object.keys(expected))('%s', async name => {
    const path = await stage.newAgent()
    const { status, body } = await importInto(path, { spec: read(name) })
    if (name.startsWith('REFUSE-')) {
      expect([status, body.error.message]).toEqual([400, expect.stringMatching(/Swagger 2.0/)])
      return
    }
    expect(status).toBe(201)
    const told = body.data.map(
      ({ name: toolName, configuration: { method, pathTemplate, pathParams, queryParams } }) => [
        String(method).toLowerCase(),
        pathTemplate,
        toolName,
        pathParams,
        queryParams,
      ],
    )
    const wanted = expected[name]?.operations.map(([method, template, operationId, ...parameters]) => [
      method.toLowerCase(),
      template,
      operationId ?? expect.stringMatching(new RegExp(`^${method.toLowerCase()}_[A-Za-z0-9_-]+$`)),
      ...parameters,
    ])
    const inOrder = (operations: unknown[][] = []) =>
      operations.toSorted((one, other) => keyOf(one).localeCompare(keyOf(other)))
    expect(inOrder(told)).toEqual(inOrder(wanted))
  })
})

function keyOf([method, path]: unknown[]): string {
  return `${method} ${path}`
}
