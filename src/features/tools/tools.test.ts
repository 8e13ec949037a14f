import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ListMeta } from '#platform/http/lists/list-query.ts'
import { errorRow, row } from '#test/spec/row.ts'
import { type Answer, type TestApp, testApp } from '#test/support/build-app.ts'
import { type RecordedRequest, startModelServer } from '#test/support/model-server.ts'
import { setToolsStage, type ToolsStage } from '#test/support/tools-stage.ts'
import type { AgentTool } from './tools.schema.ts'

interface One {
  success: boolean
  data: AgentTool
}

interface Tested {
  success: boolean
  data: { result?: unknown; error?: string; duration_ms: number }
}

let stage: ToolsStage
let app: TestApp

beforeAll(async () => {
  stage = await setToolsStage()
  app = stage.app
})

afterAll(() => stage[Symbol.asyncDispose]())

function httpTool(more: Record<string, unknown> = {}, configuration: Record<string, unknown> = {}) {
  return {
    name: 'weather',
    description: 'Tells the weather of a city.',
    type: 'http',
    configuration: { url: `${stage.server.url}/weather/{city}`, method: 'GET', ...configuration },
    ...more,
  }
}

const create = (path: string, body: unknown) => app.call<One>('POST', path, { body })
const codeTool = (name: string, code = 'return args') => ({
  name,
  type: 'javascript',
  configuration: { code },
})

/** Two of these fit into one schema. */
const many = (schema: object) =>
  Object.fromEntries(
    Array.from({ length: 350 }, (_, number) => [`p${number}`, { ...schema, type: 'string' }]),
  )

async function created(path: string, body: unknown): Promise<AgentTool> {
  const { status, body: answered } = await create(path, body)
  expect(status, JSON.stringify(answered)).toBe(201)
  return answered.data
}

const test = (path: string, id: string, given: unknown = {}): Promise<Answer<Tested>> =>
  app.call<Tested>('POST', `${path}/${id}/test`, { body: { arguments: given } })

describe('a tool', () => {
  it(`is created and found ${row('POST /api/agents/{id}/tools')}`, async () => {
    const path = await stage.newAgent()
    const { status, body } = await create(path, httpTool({ cluster: 'Sky' }))
    expect(status).toBe(201)
    expect(body).toEqual({
      success: true,
      data: {
        id: expect.any(String),
        ...httpTool({ cluster: 'Sky' }),
        isEnabled: true,
        requiresApproval: false,
        approvers: 'admins',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    })
    expect((await app.call<One>('GET', `${path}/${body.data.id}`)).body).toEqual(body)
    expect((await app.call('GET', `${path}/nowhere`)).status).toBe(404)
  })

  it(`is listed by cluster, then name ${row('GET /api/agents/{id}/tools')}`, async () => {
    const path = await stage.newAgent()
    for (const [name, cluster] of [
      ['b', 'Two'],
      ['a', 'Two'],
      ['c', undefined],
      ['z', 'One'],
    ] as const)
      await created(path, { ...codeTool(name), ...(cluster === undefined ? {} : { cluster }) })
    const { status, body } = await app.call<{ success: boolean; data: AgentTool[]; meta: object }>(
      'GET',
      path,
    )
    expect(status).toBe(200)
    expect(body.success).toBe(true)
    expect(body.data.map(({ name, cluster }) => [cluster, name])).toEqual([
      [undefined, 'c'],
      ['One', 'z'],
      ['Two', 'a'],
      ['Two', 'b'],
    ])
    expect(body.meta).toEqual({ total: 4, limit: 50, offset: 0, has_more: false })
    const clustered = await app.call<{ data: AgentTool[] }>('GET', `${path}?cluster=Two&sort=name&order=desc`)
    expect(clustered.body.data.map(({ name }) => name)).toEqual(['b', 'a'])
  })

  it('ends a page of the list when it is large', async () => {
    const path = await stage.newAgent()
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    for (const name of names.toReversed()) await created(path, codeTool(name, '/'.repeat(200_000)))
    const list = async (query: string) => {
      const { body } = await app.call<{ data: AgentTool[]; meta: ListMeta }>('GET', `${path}?${query}`)
      return { names: body.data.map(({ name }) => name), meta: body.meta }
    }
    const first = await list('cursor=')
    expect(first.names).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(first.meta).toMatchObject({ total: 7, has_more: true })
    const last = await list(`cursor=${first.meta.next_cursor}`)
    expect(last.names).toEqual(['f', 'g'])
    expect(last.meta).toMatchObject({ next_cursor: null, has_more: false })
    expect((await list('offset=5')).names).toEqual(['f', 'g'])
  })

  it.each([
    ['queryParams', 'queryParams', Array.from({ length: 1001 }, (_, number) => `p${number}`)],
    ['pathParams', 'pathParams', Array.from({ length: 1001 }, (_, number) => `p${number}`)],
    [
      'requestBody.fields',
      'requestBody',
      {
        argument: 'body',
        mediaType: 'multipart/form-data',
        required: true,
        fields: Array.from({ length: 1001 }, (_, number) => ({ name: `f${number}` })),
      },
    ],
    [
      'placement',
      'placement',
      Array.from({ length: 1001 }, (_, number) => ({
        argument: `p${number}`,
        name: `p${number}`,
        in: 'query',
        style: 'form',
        explode: true,
        required: false,
      })),
    ],
    ['security', 'security', Array.from({ length: 101 }, () => [])],
  ])('of an imported form has no more %s than calls can bear', async (field, part, value) => {
    const path = await stage.newAgent()
    const imported = { baseUrl: stage.server.url, pathTemplate: '/', method: 'POST' }
    const configuration = { ...imported, pathParams: [], queryParams: [], [part]: value }
    const { status, body } = await create(path, { name: 'many', type: 'http', configuration })
    expect(status).toBe(400)
    expect(body).toMatchObject({
      error: {
        code: 'VALIDATION_ERROR',
        details: {
          field: `configuration.${field}`,
          issue: expect.stringMatching(/^must have at most 100?0? entries$/),
        },
      },
    })
  })

  it('is changed, enabled, disabled and moved to another cluster', async () => {
    const path = await stage.newAgent()
    const { id } = await created(path, httpTool({ cluster: 'Sky' }))
    const put = (body: unknown) => app.call<One>('PUT', `${path}/${id}`, { body })
    expect((await put({ isEnabled: false, requiresApproval: true })).body.data).toMatchObject({
      isEnabled: false,
      requiresApproval: true,
      name: 'weather',
      cluster: 'Sky',
    })
    const moved = await put({ name: 'rain', cluster: null })
    expect(moved.body.data).toMatchObject({ name: 'rain' })
    expect(moved.body.data).not.toHaveProperty('cluster')
    expect((await put({ configuration: { url: 'nonsense', method: 'GET' } })).status).toBe(400)
    expect((await put({})).status).toBe(400)
    expect((await app.call('PUT', `${path}/nowhere`, { body: { name: 'x' } })).status).toBe(404)
  })

  it(`is deleted by its id ${row('DELETE /api/agents/{id}/tools?id={toolId}')}`, async () => {
    const path = await stage.newAgent()
    const { id } = await created(path, httpTool())
    const { status, body } = await app.call('DELETE', `${path}?id=${id}`)
    expect([status, body]).toEqual([200, { success: true }])
    expect((await app.call('DELETE', `${path}?id=${id}`)).status).toBe(404)
    expect((await app.call('DELETE', path)).status).toBe(400)
  })

  it(`goes with its cluster ${row('DELETE /api/agents/{id}/tools/cluster/{clusterName}')}`, async () => {
    const path = await stage.newAgent()
    await created(path, { ...codeTool('a'), cluster: 'My tools/1' })
    await created(path, { ...codeTool('b'), cluster: 'My tools/1' })
    await created(path, codeTool('c'))
    const url = `${path}/cluster/${encodeURIComponent('My tools/1')}`
    const { status, body } = await app.call('DELETE', url)
    expect([status, body]).toEqual([200, { success: true, data: { deleted: 2 } }])
    expect((await app.call('DELETE', url)).status).toBe(404)
    expect((await app.call<{ data: unknown[] }>('GET', path)).body.data).toHaveLength(1)
  })

  it.each([
    ['is none', { properties: { a: { type: 'strin' } } }],
    ['refers to what is not there', { properties: { a: { $ref: '#/$defs/b' } } }],
    ['refers to another document', { properties: { a: { $ref: 'https://schemas.example.com/b' } } }],
    ['is too long', { properties: { a: { description: 'x'.repeat(40_000) } } }],
  ])('of JavaScript is refused with a schema that %s', async (_case, schema) => {
    const parameters = { type: 'object', ...schema }
    const { status, body } = await create(await stage.newAgent(), {
      ...codeTool('odd'),
      configuration: { code: 'return 1', parameters },
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { details: { field: 'configuration.parameters' } } })
  })

  it.each([
    ['lists', `${'['.repeat(20_000)}"{city}"${']'.repeat(20_000)}`],
    ['objects', `${'{"a":'.repeat(3000)}"{city}"${'}'.repeat(3000)}`],
  ])(
    'is refused with a body that is nested more deeply than any service could read, in %s',
    async (_in, body) => {
      const configuration = { url: 'https://api.example.com/', method: 'POST', body }
      const answer = await create(await stage.newAgent(), { name: 'deep', type: 'http', configuration })
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ error: { details: { field: 'configuration.body' } } })
    },
  )

  it.each([
    ['that names its draft', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    ['that leads in a circle', { properties: { a: { items: { $ref: '#' } } } }],
    [
      'in which much refers to much',
      { $defs: { b: { properties: many({}) } }, properties: many({ $ref: '#/$defs/b' }) },
    ],
    ['with a value that looks like a reference', { properties: { a: { default: { $ref: 'b' } } } }],
  ])('takes a schema %s', async (_case, schema) => {
    const parameters = { type: 'object', properties: {}, ...schema }
    const configuration = { code: 'return 1', parameters }
    const path = await stage.newAgent()
    const { configuration: stored } = await created(path, { ...codeTool('described'), configuration })
    expect(stored).toEqual(configuration)
  })

  it('is not deleted with a cluster that has no name', async () => {
    const path = await stage.newAgent()
    await created(path, codeTool('alone'))
    expect((await app.call('DELETE', `${path}/cluster/`)).status).toBe(400)
    expect((await app.call<{ data: AgentTool[] }>('GET', path)).body.data).toHaveLength(1)
  })

  it('needs a name that its cluster does not have yet', async () => {
    const path = await stage.newAgent()
    await created(path, codeTool('a'))
    const twin = await create(path, codeTool('a'))
    expect(twin.status).toBe(409)
    expect(twin.body).toMatchObject({
      error: { code: 'CONFLICT', message: expect.stringContaining('“a”') },
    })
    await created(path, { ...codeTool('a'), cluster: 'Elsewhere' })
    const { id } = await created(path, codeTool('b'))
    expect((await app.call('PUT', `${path}/${id}`, { body: { name: 'a' } })).status).toBe(409)
  })

  it.each([
    ['no name', { name: '' }],
    ['an unknown type', { type: 'shell' }],
    ['no configuration', { configuration: undefined }],
    ['a configuration of another type', { type: 'javascript' }],
    ['no code', { type: 'javascript', configuration: { code: '' } }],
    ['an address of another scheme', { configuration: { url: 'file:///etc/passwd', method: 'GET' } }],
    ['a placeholder for the host', { configuration: { url: 'https://{host}/', method: 'GET' } }],
    ['a method that is none', { configuration: { url: 'https://example.com/', method: 'FETCH' } }],
    [
      'headers that are no JSON',
      { configuration: { url: 'https://example.com/', method: 'GET', headers: 'a: b' } },
    ],
    ['a cluster of nothing', { cluster: ' ' }],
    ['a description without end', { description: 'x'.repeat(5000) }],
  ])('is refused with %s', async (_case, wrong) => {
    const path = await stage.newAgent()
    const { status, body } = await create(path, httpTool(wrong))
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { code: 'VALIDATION_ERROR', message: expect.any(String) } })
  })

  it.each([
    ['http', {}, 'url', 'is required'],
    ['http', { url: 'https://example.com/' }, 'method', 'is required'],
    ['http', { url: 7, method: 'GET' }, 'url', 'must be a string'],
    [
      'http',
      { url: 'https://example.com/', method: 'FETCH' },
      'method',
      'must be one of GET, POST, PUT, DELETE, PATCH, HEAD',
    ],
    ['javascript', {}, 'code', 'is required'],
    ['javascript', { code: 'return 1', parameters: { type: 'list' } }, 'parameters.type', 'must be "object"'],
    [
      'javascript',
      { code: 'let a\nreturn a +' },
      'code',
      expect.stringMatching(/^SyntaxError: .*\(line 2, column 11\)$/),
    ],
    ['mcp', { serverId: 'a' }, 'toolName', 'is required'],
  ])('of type %s is refused with %j, which names the field and the issue', async (...wrong) => {
    const [type, configuration, field, issue] = wrong
    const { status, body } = await create(await stage.newAgent(), { name: 'wrong', type, configuration })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { details: { field: `configuration.${field}`, issue } } })
  })

  it('of another agent is as good as none', async () => {
    const [mine, theirs] = [await stage.newAgent(), await stage.newAgent()]
    const { id } = await created(theirs, codeTool('a'))
    for (const [method, url] of [
      ['GET', `${mine}/${id}`],
      ['DELETE', `${mine}?id=${id}`],
      ['PUT', `${mine}/${id}`],
      ['POST', `${mine}/${id}/test`],
    ] as const)
      expect((await app.call(method, url, { body: { name: 'b' } })).status).toBe(404)
  })
})

describe('secrets in headers', () => {
  const headers = (token: string) => JSON.stringify({ Authorization: token, Accept: 'text/plain' })
  const sent = (): RecordedRequest => stage.server.requests.at(-1) as RecordedRequest

  it('come back masked, are sent, and stand nowhere in clear text', async () => {
    const path = await stage.newAgent()
    const tool = await created(path, httpTool({}, { headers: headers('Bearer very-secret-1') }))
    expect(JSON.parse(String(tool.configuration.headers))).toEqual({
      Authorization: '********',
      Accept: 'text/plain',
    })
    expect((await test(path, tool.id, { city: 'Ulm' })).body.success).toBe(true)
    expect(sent().headers.authorization).toBe('Bearer very-secret-1')
    const list = JSON.stringify((await app.call('GET', path)).body)
    expect(list + app.logged.join('')).not.toContain('very-secret-1')
  })

  it('stay when the mask is sent back, and change when something else is', async () => {
    const path = await stage.newAgent()
    const { id, configuration } = await created(
      path,
      httpTool({}, { headers: headers('Bearer very-secret-2') }),
    )
    const put = (body: unknown) => app.call<One>('PUT', `${path}/${id}`, { body })
    expect((await put({ configuration, description: 'New' })).status).toBe(200)
    await test(path, id, { city: 'Ulm' })
    expect(sent().headers.authorization).toBe('Bearer very-secret-2')
    await put({ configuration: { ...configuration, headers: headers('Bearer other-secret') } })
    await test(path, id, { city: 'Ulm' })
    expect(sent().headers.authorization).toBe('Bearer other-secret')
    await put({ isEnabled: false })
    await test(path, id, { city: 'Ulm' })
    expect(sent().headers.authorization).toBe('Bearer other-secret')
  })

  it('never go to another server than they were given for', async () => {
    const path = await stage.newAgent()
    const { id, configuration } = await created(
      path,
      httpTool({}, { headers: headers('Bearer very-secret-3') }),
    )
    const moved = { ...configuration, url: 'https://elsewhere.example/weather/{city}' }
    const { status, body } = await app.call('PUT', `${path}/${id}`, { body: { configuration: moved } })
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: { message: expect.stringMatching(/another server/) } })
  })

  it('are left behind when the server redirects elsewhere', async () => {
    const path = await stage.newAgent()
    await using other = await startModelServer(() => ({ json: { other: true } }))
    stage.replyWith(() => ({ status: 302, headers: { location: `${other.url}/there` } }))
    const secret = JSON.stringify({ 'X-Token': 'very-secret-4' })
    const { id } = await created(path, httpTool({}, { headers: secret }))
    const { body } = await test(path, id, { city: 'Ulm' })
    expect(body.data.result).toEqual({ status: 200, body: { other: true } })
    expect(other.requests[0]?.headers).not.toHaveProperty('x-token')
  })

  it('are taken out of what the server tells back', async () => {
    const path = await stage.newAgent()
    stage.replyWith(({ headers: told }) => ({ json: { told: told.authorization } }))
    const { id } = await created(path, httpTool({}, { headers: headers('very-secret-5') }))
    const { body } = await test(path, id, { city: 'Ulm' })
    expect(body.data.result).toEqual({ status: 200, body: { told: '********' } })
  })

  it('stay out of the log and of the answer also if they are longer than any other', async () => {
    const path = await stage.newAgent()
    const long = `very-secret-8${'/'.repeat(15_000)}`
    stage.replyWith(({ headers: told }) => ({ json: { told: told.authorization } }))
    const { id } = await created(path, httpTool({}, { headers: headers(long) }))
    const { body } = await test(path, id, { city: 'Ulm' })
    expect(body.data.result).toEqual({ status: 200, body: { told: '********' } })
    expect(app.logged.join('')).not.toContain('ery-secret-8')
  })

  it('are gone with the tool', async () => {
    const path = await stage.newAgent()
    const { id } = await created(path, httpTool({}, { headers: headers('Bearer very-secret-6') }))
    const count = async () => {
      const { platform } = app.service.infrastructure
      const agentId = path.split('/')[3] ?? ''
      return (
        await platform.selectFrom('agent_secrets').select('name').where('agent_id', '=', agentId).execute()
      ).length
    }
    expect(await count()).toBe(1)
    await app.call('PUT', `${path}/${id}`, { body: { description: 'Again' } })
    expect(await count()).toBe(1)
    await app.call('DELETE', `${path}?id=${id}`)
    expect(await count()).toBe(0)
  })

  it('can not be guessed by their mask', async () => {
    const path = await stage.newAgent()
    const { status } = await create(path, httpTool({}, { headers: headers('********') }))
    expect(status).toBe(400)
  })

  it.each(['constructor', '__proto__'])('may stand in a header named %s', async name => {
    const path = await stage.newAgent()
    const masked = httpTool({}, { headers: `{"${name}":"********"}` })
    expect((await create(path, masked)).status).toBe(400)
    const { id } = await created(path, httpTool({}, { headers: `{"${name}":"very-secret-7"}` }))
    expect((await test(path, id, { city: 'Ulm' })).body.success).toBe(true)
  })
})

describe('a test call', () => {
  it('of an HTTP tool places the arguments and gives what the service answered', async () => {
    const path = await stage.newAgent()
    const { id } = await created(path, httpTool())
    stage.replyWith(() => ({ json: { degrees: 21 } }))
    const { status, body } = await test(path, id, { city: 'Ulm/Neu-Ulm', days: 2 })
    expect(status).toBe(200)
    expect(body).toEqual({
      success: true,
      data: { result: { status: 200, body: { degrees: 21 } }, duration_ms: expect.any(Number) },
    })
    expect(stage.server.requests.at(-1)).toMatchObject({
      method: 'GET',
      path: '/weather/Ulm%2FNeu-Ulm?days=2',
    })
  })

  it('tells what went wrong', async () => {
    const path = await stage.newAgent()
    const { id } = await created(path, httpTool())
    stage.replyWith(() => ({ status: 404, json: { message: 'no such city' } }))
    const { status, body } = await test(path, id, { city: 'Nowhere' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ success: false, data: { error: expect.stringContaining('no such city') } })
    expect((await test(path, id, {})).body.data.error).toMatch(/city/)
  })

  it.each([
    ['body', { url: 'https://api.example.com/', method: 'POST', body: `Of ${'{city}'.repeat(10_000)}` }],
    ['address', { url: `https://api.example.com/${'{city}'.repeat(1000)}`, method: 'GET' }],
    [
      'address of an imported tool',
      {
        baseUrl: 'https://api.example.com',
        pathTemplate: `/${'{city}'.repeat(1000)}`,
        method: 'GET',
        pathParams: ['city'],
        queryParams: [],
      },
    ],
  ])(
    'is not made if one argument would stand in too many places of the %s',
    async (_place, configuration) => {
      const path = await stage.newAgent()
      const { id } = await created(path, { name: 'echo', type: 'http', configuration })
      const { body } = await test(path, id, { city: 'x'.repeat(100_000) })
      expect(body).toMatchObject({
        success: false,
        data: { error: expect.stringMatching(/city.*is too long/) },
      })
    },
  )

  it('bears an answer that is nested however deeply', async () => {
    const path = await stage.newAgent()
    const { id } = await created(path, httpTool())
    stage.replyWith(() => ({ text: '['.repeat(100_000) + ']'.repeat(100_000) }))
    const { status } = await test(path, id, { city: 'Ulm' })
    expect(status).toBe(200)
  })

  it('reaches no private address, wherever it stands', async () => {
    const path = await stage.newAgent()
    for (const url of ['http://169.254.169.254/latest', 'http://[::1]/', 'http://10.0.0.1/']) {
      const { id } = await created(path, { ...httpTool({}, { url }), name: url })
      const { body } = await test(path, id)
      expect(body).toMatchObject({ success: false, data: { error: expect.stringMatching(/address/) } })
    }
  })

  it('does not take a tool that is disabled for none', async () => {
    const path = await stage.newAgent()
    const { id } = await created(path, { ...codeTool('a', 'return { twice: args.n * 2 }'), isEnabled: false })
    expect((await test(path, id, { n: 21 })).body.data.result).toEqual({ twice: 42 })
  })

  it('of JavaScript gives its value with its console, or its error', async () => {
    const path = await stage.newAgent()
    const noisy = await created(path, codeTool('noisy', 'console.log("hello"); return 1'))
    expect((await test(path, noisy.id)).body.data.result).toEqual({ result: 1, console: ['hello'] })
    const failing = await created(
      path,
      codeTool('failing', 'console.warn("careful"); throw new Error("no luck")'),
    )
    const { error } = (await test(path, failing.id)).body.data
    expect(error).toMatch(/no luck/)
    expect(error).toMatch(/warn: careful/)
  })
})

describe('the wrong caller', () => {
  it(`is refused before anything happens ${errorRow('tools', 400)}`, async () => {
    const app = await testApp({ environment: { PUBLIC_ACCESS: 'read' } })
    const path = '/api/agents/default/tools'
    expect((await app.call('GET', path)).status).toBe(200)
    for (const [method, url] of [
      ['POST', path],
      ['PUT', `${path}/x`],
      ['DELETE', `${path}?id=x`],
      ['POST', `${path}/x/test`],
      ['POST', `${path}/import-openapi`],
      ['DELETE', `${path}/cluster/x`],
      ['PUT', `${path}/cluster/x/credentials`],
    ] as const)
      expect((await app.call(method, url, { body: codeTool('a') })).status, url).toBe(403)
  })
})
