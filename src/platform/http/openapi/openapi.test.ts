import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'
import { type TSchema, Type } from 'typebox'
import { beforeAll, describe, expect, it } from 'vitest'
import { streamEvents } from '#test/spec/stream-events.ts'
import { makeAgent } from '#test/support/agents.ts'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { startModelServer } from '#test/support/model-server.ts'
import type { App } from '../app.ts'
import { openApiDocument, registerOpenApi } from './openapi.ts'

interface Media {
  content: Record<string, { schema: Record<string, unknown>; example?: unknown }>
  description: string
  headers?: object
}

interface Operation {
  operationId: string
  summary: string
  tags: string[]
  security?: object[]
  parameters?: { name: string; in: string; description?: string }[]
  requestBody?: Media & { required: boolean }
  'x-event-stream'?: object
  responses: Record<string, Media>
}

interface Document {
  openapi: string
  servers?: object[]
  tags?: { name: string }[]
  security?: object[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; securitySchemes?: object }
}

const gatewayOn = {
  GATEWAY_JWKS_URL: 'http://127.0.0.1:1/certs',
  GATEWAY_AUDIENCE: 'x',
  GATEWAY_HEADER: 'X-Token',
}

/** Not those that send a browser elsewhere and back, nor other spellings of a path. */
function isDescribed({ url }: { url: string }): boolean {
  return !url.endsWith('/') && !['/api/auth/sign-in', '/api/auth/callback'].includes(url)
}

/** What is imported is only shown, 200, or stored, 201. */
function successesOf(url: string): number {
  return url.endsWith('/import-openapi') ? 2 : 1
}

async function documentOf(app: TestApp): Promise<Document> {
  const { status, body } = await app.call<Document>('GET', '/openapi.json')
  expect(status).toBe(200)
  return body
}

describe('the description of the service', () => {
  let document: Document
  let guarded: Document
  let routes: TestApp['routes']

  beforeAll(async () => {
    const open = await buildApp()
    const withGateway = await buildApp({
      environment: { ...gatewayOn, BASE_URL: 'https://agents.example.com/base/' },
    })
    document = await documentOf(open)
    guarded = await documentOf(withGateway)
    routes = open.routes.filter(isDescribed)
    await Promise.all([open.close(), withGateway.close()])
  })

  const pathOf = (url: string) => url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{*}')

  const operationsOf = ({ paths }: Document) =>
    Object.entries(paths)
      .filter(([url]) => isDescribed({ url }))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({
          route: `${method.toUpperCase()} ${path}`,
          operation,
        })),
      )

  it('is valid OpenAPI 3.1, with and without a gateway', async () => {
    for (const one of [document, guarded]) {
      expect(one.openapi).toBe('3.1.0')
      expect(await new Validator().validate(JSON.parse(JSON.stringify(one)))).toEqual({ valid: true })
    }
  })

  it('names the public address of the service, or is relative to where it came from', () => {
    expect(document.servers).toEqual([{ url: '/' }])
    expect(guarded.servers).toEqual([{ url: 'https://agents.example.com/base' }])
  })

  it('has every route of the API, and no other', () => {
    const declared = routes
      .filter(({ method, url }) => method !== 'HEAD' && url.startsWith('/api'))
      .map(({ method, url }) => `${method} ${pathOf(url)}`)
    const described = operationsOf(document).map(({ route }) => route)
    expect(described.filter(route => route.includes(' /api')).toSorted()).toEqual(declared.toSorted())
    expect(described).toContain('GET /healthz')
  })

  it('says of every operation what it does, under an id of its own', () => {
    const operations = operationsOf(document).map(({ operation }) => operation)
    for (const { summary, tags } of operations) {
      expect(summary).toMatch(/\S/)
      expect(tags).toHaveLength(1)
    }
    const ids = operations.map(operation => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[a-z]+([A-Z][a-z]+)+$/)
    expect(document.paths['/api/agents/{id}/sources/{sourceId}/reindex']?.post?.operationId).toBe(
      'reindexSource',
    )
  })

  it('describes every parameter', () => {
    for (const { route, operation } of operationsOf(document))
      for (const { name, description } of operation.parameters ?? [])
        expect(description, `${route} ${name}`).toMatch(/\S\.$/)
    const { parameters } = document.paths['/api/agents/{id}/tools/cluster/{clusterName}']?.delete ?? {}
    expect(parameters?.map(({ description }) => description)).toEqual([
      'The id of the agent.',
      'The name of the cluster.',
    ])
  })

  it('has its tags listed', () => {
    const used = new Set(operationsOf(document).flatMap(({ operation }) => operation.tags))
    expect(document.tags?.map(({ name }) => name).toSorted()).toEqual([...used].toSorted())
  })

  it('has a schema of every success, and of the failures in the shape of the area', () => {
    const shapes = { generic: 'Error', chat: 'ChatError', payments: 'PaymentError', openai: 'OpenAiError' }
    for (const { method, url, config } of routes.filter(({ url }) => url.startsWith('/api'))) {
      if (method === 'HEAD') continue
      const operation = document.paths[pathOf(url)]?.[method.toLowerCase()]
      const { responses = {} } = operation ?? {}
      // That something was taken, 202, is told without content.
      const successes = Object.keys(responses).filter(status => /^20[01]$/.test(status))
      // A route that is there to refuse says so, and has no success.
      const isRefusal = '405' in responses
      expect(successes, `${method} ${url}`).toHaveLength(isRefusal ? 0 : successesOf(url))
      const Ref = `#/components/schemas/${shapes[config.area]}`
      for (const status of ['429', '4XX', '507', '5XX'])
        expect(responses[status]?.content, `${method} ${url} ${status}`).toEqual({
          'application/json': { schema: { $ref: Ref } },
        })
      expect(Object.keys(responses[429]?.headers ?? {})).toEqual([
        'Retry-After',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
      ])
      const isGuarded = config.access !== 'anyone'
      expect(responses[403]?.content['text/plain']).toEqual(
        isGuarded ? { schema: { type: 'string' } } : undefined,
      )
    }
  })

  it('says of what is open to everybody that it may be refused, and where it is limited', () => {
    const { '/healthz': health, '/readyz': ready, '/metrics': metrics } = document.paths
    expect(Object.keys(health?.get?.responses ?? {})).toEqual(['200', '4XX'])
    expect(Object.keys(ready?.get?.responses ?? {})).toEqual(['200', '503', '4XX'])
    expect(Object.keys(metrics?.get?.responses ?? {})).toEqual(['200', '429', '4XX'])
    const Ref = '#/components/schemas/Error'
    expect(health?.get?.responses['4XX']?.content).toEqual({ 'application/json': { schema: { $ref: Ref } } })
  })

  it('takes an API key, and the token of the gateway where there is one', () => {
    const apiKey = { type: 'http', scheme: 'bearer', description: expect.any(String) }
    expect(document.security).toEqual([{ apiKey: [] }, {}])
    expect(document.components.securitySchemes).toEqual({ apiKey })
    expect(document.paths['/api/auth/keys']?.post?.security).toEqual([{}])
    expect(guarded.components.securitySchemes).toEqual({
      apiKey,
      gateway: { type: 'apiKey', in: 'header', name: 'X-Token' },
    })
    expect(guarded.security).toEqual([{ apiKey: [] }, { gateway: [] }, {}])
    expect(guarded.paths['/healthz']?.get?.security).toEqual([])
    expect(guarded.paths['/api/agents']?.post?.security).toEqual([{ apiKey: [] }, { gateway: [] }])
    expect(guarded.paths['/api/auth/keys']?.post?.security).toEqual([{ gateway: [] }])
    expect(guarded.paths['/api/agents']?.get).not.toHaveProperty('security')
    const refusals = operationsOf(guarded)
      .filter(({ route }) => route.includes(' /api'))
      .map(({ route, operation }) => [route, JSON.stringify(operation.responses[401]?.content)] as const)
    for (const [route, content = ''] of refusals)
      expect(content, route).toMatch(/schemas\/(?:Error|OpenAiError)"/)
    expect(Object.fromEntries(refusals)['POST /api/agents/{id}/provider/charge']).toContain('/PaymentError"')
  })

  it('has a type for the answers to messages, and one for each event of their streams', () => {
    for (const path of ['/api/agents/{id}/chat', '/api/agents/{id}/chat/messages/{messageId}/regenerate']) {
      const operation = document.paths[path]?.post
      // Another type of content would make the type of the answer a union in every client.
      expect(Object.keys(operation?.responses[200]?.content ?? {})).toEqual(['application/json'])
      const Ref = '#/components/schemas/StreamEvent'
      expect(operation?.['x-event-stream']).toEqual({ schema: { $ref: Ref } })
    }
    const { StreamEvent } = document.components.schemas as Record<string, { anyOf?: { $ref: string }[] }>
    const names = StreamEvent?.anyOf?.map(({ $ref: Ref }) => Ref.split('/').at(-1) ?? '') ?? []
    const types = names.map(name => {
      const { properties } = document.components.schemas[name] as { properties: { type: { enum: string[] } } }
      return properties.type.enum[0]
    })
    // Ours, beside those of the specification.
    const specified = streamEvents.map(({ type }) => type)
    expect(new Set(types)).toEqual(
      new Set([...specified, 'takeover_requested', 'content_replaced', 'content_reset', 'turn_waiting']),
    )
  })

  it('says that a source is uploaded as a form, or named by a JSON body', () => {
    const { requestBody } = document.paths['/api/agents/{id}/sources']?.post ?? {}
    expect(Object.keys(requestBody?.content ?? {})).toEqual(['multipart/form-data', 'application/json'])
  })

  it('says which bodies may be left out: those that need to name nothing', () => {
    const optional = operationsOf(document).filter(
      ({ operation }) => operation.requestBody?.required === false,
    )
    expect(optional.map(({ route }) => route).toSorted()).toEqual([
      'POST /api/agents/{id}/browser',
      'POST /api/agents/{id}/browser/{sessionId}/takeover/end',
      'POST /api/agents/{id}/chat/approvals/{toolCallId}',
      'POST /api/agents/{id}/chat/messages/{messageId}/regenerate',
      'POST /api/agents/{id}/keys/{keyId}/rotate',
      'POST /api/agents/{id}/mcp/{serverId}/approve',
      'POST /api/agents/{id}/tools/{toolId}/test',
      'POST /api/agents/{id}/workflows/executions/{executionId}/retry',
      'POST /api/auth/keys/{keyId}/rotate',
      'PUT /api/agents/{id}',
    ])
  })

  it('has no secret to offer: credentials are write-only', () => {
    const settings = document.paths['/api/agents/{id}/settings']?.put?.requestBody?.content
    expect(settings?.['application/json']?.schema).toMatchObject({
      properties: { openai_api_key: { anyOf: [{ type: 'string', writeOnly: true }, { type: 'null' }] } },
    })
    expect(JSON.stringify(document.components.schemas.AgentSettings)).not.toContain('api_key')
  })

  it('has only references that lead somewhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)]
    expect(references.length).toBeGreaterThan(20)
    for (const [, name = ''] of references) expect(document.components.schemas).toHaveProperty(name)
  })

  it('describes what the service answers', async () => {
    const app = await buildApp()
    const { body } = await app.call('GET', '/api/agents/default')
    const { body: failure } = await app.call('GET', '/api/agents?limit=0')
    await app.close()
    const ajv = new Ajv({ strict: false, validateFormats: false })
    ajv.addSchema({ ...document, $id: 'api' })
    expect(ajv.validate({ $ref: 'api#/components/schemas/Agent' }, body)).toBe(true)
    expect(ajv.validate({ $ref: 'api#/components/schemas/Error' }, failure)).toBe(true)
  })
})

it('the example of each body can be sent as it is', async () => {
  await using elsewhere = await startModelServer(() => ({ json: { openapi: '3.1.0', paths: {} } }))
  const app = await testApp({ environment: { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1' } })
  const agentId = await makeAgent(app)
  const { paths } = await documentOf(app)
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  let sent = 0
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { requestBody }] of Object.entries(methods)) {
      const media = requestBody?.content['application/json']
      if (media === undefined) continue
      // Tests reach this machine only, and its caller owns this agent only.
      const payload = JSON.stringify(media.example)
        .replaceAll(/https:\/\/[\w.]+/g, elsewhere.url)
        .replace('"id":"default"', `"id":"${agentId}"`)
      const to = path.replace('{id}', agentId).replaceAll(/\{\w+\}/g, 'none')
      const { status, body } = await app.call(method.toUpperCase(), to, { payload, headers })
      // Nothing is there under a made-up id, the payment provider knows nobody without a key, and no link has the token.
      const isMade = to.includes('/none') || to.endsWith('/workflows/execute')
      const isRefused = to.includes('/provider/') ? [401] : to.endsWith('/auth/link') ? [403] : undefined
      const expected = isMade ? [404] : (isRefused ?? [200, 201])
      expect(expected, `${method} ${path} ${JSON.stringify(body)}`).toContain(status)
      sent += 1
    }
  expect(sent).toBeGreaterThan(15)
})

describe('an operation', () => {
  async function describeRoutes(routes: (app: App) => void): Promise<Document> {
    const { app } = await bareServer({
      async routes(bare) {
        await registerOpenApi(bare, { version: '1.2.3', baseUrl: undefined, gatewayHeader: undefined })
        routes(bare)
      },
    })
    return openApiDocument(app) as unknown as Document
  }

  it('takes the fields of its form from the route, which does not validate them', async () => {
    const form = Type.Object({ name: Type.String(), file: Type.String({ format: 'binary' }) })
    const document = await describeRoutes(app => {
      app.route({
        method: 'POST',
        url: '/api/forms',
        config: { ...plainRoute, access: 'admin', area: 'payments' },
        schema: { tags: ['Forms'], consumes: ['multipart/form-data'], form },
        handler: async () => ({}),
      })
    })
    const operation = document.paths['/api/forms']?.post
    expect(operation?.requestBody?.content['multipart/form-data']?.schema).toMatchObject({
      required: ['name', 'file'],
      properties: { file: { type: 'string', format: 'binary' } },
    })
    expect(operation?.responses['4XX']?.content['application/json']?.schema).toEqual({
      $ref: '#/components/schemas/PaymentError',
    })
  })

  it('shares the schemas that have a title, of which two cannot be different', async () => {
    const route = (app: App, url: string, properties: Record<string, TSchema>) =>
      app.route({
        method: 'GET',
        url,
        config: plainRoute,
        schema: { tags: ['x'], response: { 200: Type.Object(properties, { title: 'Thing' }) } },
        handler: async () => ({}),
      })
    const shared = await describeRoutes(app => {
      route(app, '/api/a', { id: Type.String() })
      route(app, '/api/b', { id: Type.String() })
    })
    expect(Object.keys(shared.components.schemas)).toEqual(['Thing', 'Error'])
    const different = describeRoutes(app => {
      route(app, '/api/a', { id: Type.String() })
      route(app, '/api/b', { id: Type.Integer() })
    })
    await expect(different).rejects.toThrow('Two schemas have the title Thing')
  })
})
