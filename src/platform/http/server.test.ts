import { connect } from 'node:net'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { errorRow } from '#test/spec/row.ts'
import { type BareServer, bareServer, plainRoute } from '#test/support/bare-server.ts'
import { sendToTheEnd } from '#test/support/send-to-the-end.ts'
import { AccessDenied, AppError } from '../errors.ts'
import type { App, Area } from './app.ts'

const areas = ['generic', 'chat', 'payments'] as const

/** Routes that answer with what was sent, and that fail in every way. */
function makeRoutes(app: App): void {
  app.route({ method: 'GET', url: '/api/hello', config: plainRoute, handler: async () => ({ hello: 'you' }) })
  app.route({
    method: 'POST',
    url: '/api/people',
    config: plainRoute,
    schema: {
      body: Type.Object({ name: Type.String(), age: Type.Optional(Type.Integer()) }),
      response: { 201: Type.Object({ name: Type.String() }) },
    },
    handler: async (request, reply) => reply.code(201).send(request.body),
  })
  app.route({
    method: ['POST', 'DELETE'],
    url: '/api/anything',
    config: plainRoute,
    handler: async request => ({ body: request.body ?? 'none' }),
  })
  for (const area of areas) {
    const fail = (kind: string, thrown: unknown) =>
      app.route({
        method: 'GET',
        url: `/api/${area}/${kind}`,
        config: { ...plainRoute, area },
        handler: async () => {
          throw thrown
        },
      })
    fail('taken', new AppError('CONFLICT', 'The name is taken.'))
    fail('denied', new AccessDenied('Ask the owner.'))
    fail('broken', new TypeError('the secret detail at /srv/code.ts:1'))
    fail('busy', new AppError('MODEL_ERROR', 'The model is busy.', { cause: new Error('the secret detail') }))
  }
}

const server = () => bareServer({ routes: makeRoutes })

function post(bare: BareServer, url: string, payload: string | Buffer, type = 'application/json') {
  return bare.call({ method: 'POST', url, payload, headers: { 'content-type': type } })
}

const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'access-control-allow-headers': 'Content-Type, Authorization',
}
const securityHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

describe('cross-origin requests', () => {
  it.each(['https://evil.test', 'null', undefined])(
    'get the same preflight answer from the origin %j: 204, any origin, no credentials',
    async origin => {
      const bare = await server()
      const headers = { 'access-control-request-method': 'PUT', ...(origin === undefined ? {} : { origin }) }
      for (const url of ['/api/people', '/api/nothing']) {
        const answer = await bare.call({ method: 'OPTIONS', url, headers })
        expect(answer.statusCode).toBe(204)
        expect(answer.body).toBe('')
        expect(answer.headers).toMatchObject({ ...corsHeaders, ...securityHeaders })
        expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
      }
    },
  )

  it('may read every answer, also the failed ones, and never with credentials', async () => {
    const bare = await server()
    for (const url of ['/api/hello', '/api/nothing', '/api/chat/broken', '/api/generic/denied', '/api/%zz']) {
      const { headers } = await bare.call({
        method: 'GET',
        url,
        headers: { origin: 'https://evil.test', cookie: 'session=1' },
      })
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(headers['access-control-expose-headers']).toBe(
        'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-Should-Retry',
      )
      expect(headers).not.toHaveProperty('access-control-allow-credentials')
      expect(headers).not.toHaveProperty('set-cookie')
    }
  })
})

describe('every answer', () => {
  it.each(['/api/hello', '/api/nothing', '/api/chat/broken', '/api/generic/denied', '/api/%zz'])(
    'carries the security headers and an id: %s',
    async url => {
      const bare = await server()
      const { headers } = await bare.call({ method: 'GET', url })
      expect(headers).toMatchObject(securityHeaders)
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    },
  )

  it('has another id each time, or the one that the caller gave if it is harmless', async () => {
    const bare = await server()
    const idFor = async (given?: string) =>
      (await bare.call({ url: '/api/hello', headers: given === undefined ? {} : { 'x-request-id': given } }))
        .headers['x-request-id']
    expect(await idFor()).not.toBe(await idFor())
    expect(await idFor('trace-1.A_b')).toBe('trace-1.A_b')
    for (const harmful of ['', 'a b', '<script>', 'x'.repeat(65), '{"level":60}', 'ä'])
      expect(await idFor(harmful)).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('is logged once with its id, without the query, headers and body', async () => {
    const bare = await server()
    await bare.call({
      method: 'POST',
      url: '/api/people?token=hunter2',
      headers: { 'x-request-id': 'r-1', authorization: 'Bearer hunter2', cookie: 'a=hunter2' },
      payload: { name: 'hunter2' },
    })
    expect(bare.logged).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        requestId: 'r-1',
        method: 'POST',
        path: '/api/people',
        status: 201,
        milliseconds: expect.any(Number),
        msg: 'request',
      },
    ])
  })
})

describe('a failed request', () => {
  it.each<[area: Area, body: object]>([
    ['generic', { error: { code: 'CONFLICT', message: 'The name is taken.', details: {} } }],
    ['chat', { error: 'The name is taken.', code: 'CONFLICT' }],
    ['payments', { error: 'The name is taken.', code: 409 }],
  ])('is answered in the shape of its area %s', async (area, body) => {
    const answer = await (await server()).call({ url: `/api/${area}/taken` })
    expect(answer.statusCode).toBe(409)
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
    expect(answer.json()).toEqual(body)
  })

  it.each(areas)('is plain text when access is denied in the area %s', async area => {
    const answer = await (await server()).call({ url: `/api/${area}/denied` })
    expect([answer.statusCode, answer.headers['content-type'], answer.body]).toEqual([
      403,
      'text/plain; charset=utf-8',
      'Ask the owner.',
    ])
  })

  it.each(areas)(
    'tells nothing of a defect but the id under which it is logged, in the area %s',
    async area => {
      const bare = await server()
      const answer = await bare.call({ url: `/api/${area}/broken`, headers: { 'x-request-id': 'r-9' } })
      expect(answer.statusCode).toBe(500)
      expect(answer.body).toContain('Quote request r-9')
      expect(answer.body).not.toMatch(/secret|stack|\.ts|TypeError|at /)
      const [line] = bare.logged.filter(({ level }) => level === 50)
      expect(line).toMatchObject({ requestId: 'r-9' })
      expect(JSON.stringify(line)).toContain('the secret detail')
    },
  )

  it('warns of a fault outside, and does not log what is the caller’s', async () => {
    const bare = await server()
    const answer = await bare.call({ url: '/api/chat/busy' })
    expect(answer.json()).toEqual({ error: 'The model is busy.', code: 'MODEL_ERROR' })
    await bare.call({ url: '/api/chat/taken' })
    expect(bare.logged.map(({ level, msg }) => [level, msg])).toEqual([
      [40, 'The model is busy.'],
      [30, 'request'],
      [30, 'request'],
    ])
  })

  it(`is 404 in the generic shape where there is no route ${errorRow('shared', 404)}`, async () => {
    const bare = await server()
    const paths = ['/api/nothing', '/', '/api/people/1/2', '/API/hello', `/api/${'x'.repeat(600)}`]
    for (const url of paths) {
      const answer = await bare.call({ url })
      expect(answer.statusCode).toBe(404)
      expect(answer.json()).toEqual({
        error: { code: 'NOT_FOUND', message: expect.stringContaining('/docs'), details: {} },
      })
    }
    expect((await bare.call({ method: 'PATCH', url: '/api/hello' })).json().error.message).toBe(
      'There is no PATCH /api/hello. See /docs.',
    )
  })

  it.each(['/api/%zz', '/%', '/api/people/%e0%a4%a'])('is 400 for the path %s, and logged', async url => {
    const bare = await server()
    const answer = await bare.call({ url: `${url}?token=hunter2` })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: { code: 'VALIDATION_ERROR' } })
    expect(bare.logged).toMatchObject([{ msg: 'request', path: url, status: 400 }])
    expect((await bare.call({ method: 'OPTIONS', url })).statusCode).toBe(204)
  })

  it.each([
    ['/api/agents/default/chat/%zz', 400, 'VALIDATION_ERROR'],
    ['/api/agents/%zz/chat', 400, 'VALIDATION_ERROR'],
    ['/api/agents/default/chat?x=y%zz&%zz/%', 200, undefined],
    ['/api/agents/a/chat/messages/%e0%a4%a?limit=1', 400, 'VALIDATION_ERROR'],
    ['/api/agents/a/%63hat/%zz', 400, 'VALIDATION_ERROR'],
    ['http://agents.test/api/agents/a/chat/%zz', 400, 'VALIDATION_ERROR'],
    [`/api/agents/${'x'.repeat(501)}/chat`, 404, 'NOT_FOUND'],
  ])('is in the shape of chats where one is meant: %.60s', async (url, status, code) => {
    const bare = await bareServer({
      routes: app => {
        app.route({
          method: 'GET',
          url: '/api/agents/:id/chat',
          config: { ...plainRoute, area: 'chat' },
          handler: async () => ({}),
        })
      },
    })
    const answer = await bare.call({ url })
    expect(answer.statusCode).toBe(status)
    expect(answer.json()).toEqual(code === undefined ? {} : { error: expect.any(String), code })
    for (const other of ['/api/agents/default/chats/%zz', '/api/agents/chat/%zz', '/api/agents/a/b/chat/%zz'])
      expect((await bare.call({ url: other })).json()).toMatchObject({ error: { code: 'VALIDATION_ERROR' } })
  })

  it('is 404 for a longer name than any has', async () => {
    const bare = await bareServer({
      routes: app => {
        app.route({ method: 'GET', url: '/api/people/:name', config: plainRoute, handler: async () => ({}) })
      },
    })
    expect((await bare.call({ url: `/api/people/${'x'.repeat(500)}` })).statusCode).toBe(200)
    const answer = await bare.call({ url: `/api/people/${'x'.repeat(501)}` })
    expect(answer.statusCode).toBe(404)
    expect(answer.json()).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })
})

describe('a JSON body', () => {
  it.each([
    ['cut off', '{"name":'],
    ['a trailing comma', '{"name":"a",}'],
    ['single quotes', "{'name':'a'}"],
    ['a comment', '{/*x*/"name":"a"}'],
    ['not a number', '{"age":NaN}'],
    ['two values', '{"name":"a"}{}'],
    ['deep beyond the parser', '['.repeat(20_000)],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ])(`is refused when it has %s ${errorRow('shared', 400)}`, async (_what, payload) => {
    const bare = await server()
    for (const url of ['/api/people', '/api/anything']) {
      const answer = await post(bare, url, payload)
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toEqual({
        error: { code: 'MALFORMED_JSON', message: 'The request body is not valid JSON.', details: {} },
      })
    }
  })

  it.each([
    ['a prototype', '{"name":"x","__proto__":{"isAdmin":true}}'],
    ['a prototype in other letters', '\uFEFF{"name":"x","\\u005f_proto__":{"isAdmin":true}}'],
    ['a prototype further down', '{"name":{"__proto__":{"b":1}}}'],
    ['a constructor', '{"constructor":{"prototype":{"foo":1}}}'],
  ])('is refused, and not called malformed, when it has %s', async (_what, payload) => {
    const bare = await server()
    const issue = 'must not hold a field named __proto__, or a prototype in a constructor'
    for (const url of ['/api/people', '/api/anything']) {
      const answer = await post(bare, url, payload)
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject({
        error: { code: 'VALIDATION_ERROR', details: { field: 'body', issue } },
      })
    }
    expect({}).not.toHaveProperty('isAdmin')
  })

  it('is refused when it is nested more deeply than anything could use', async () => {
    const answer = await post(await server(), '/api/people', `${'['.repeat(201)}${']'.repeat(201)}`)
    expect(answer.statusCode).toBe(400)
    const issue = 'must not be nested more than 200 levels deep'
    expect(answer.json()).toMatchObject({
      error: { code: 'VALIDATION_ERROR', details: { field: 'body', issue } },
    })
  })

  it('is refused when it holds more values than can be read without holding others up', async () => {
    const bare = await server()
    const answer = await post(bare, '/api/people', `[${'{},'.repeat(10_000)}1]`)
    expect(answer.statusCode).toBe(400)
    const issue = 'must not hold more than 20000 values'
    expect(answer.json()).toMatchObject({
      error: { code: 'VALIDATION_ERROR', details: { field: 'body', issue } },
    })
    const most = await post(bare, '/api/anything', JSON.stringify({ list: Array(19_997).fill(1) }))
    expect(most.statusCode).toBe(200)
  })

  it.each([
    ['an empty body', '', 'name', 'is required'],
    ['an empty object', '{}', 'name', 'is required'],
    ['null', 'null', 'body', 'must be an object'],
    ['a list', '[]', 'body', 'must be an object'],
    ['a text', '"x"', 'body', 'must be an object'],
    ['a number for a text', '{"name":3}', 'name', 'must be a string'],
    ['a text for a number', '{"name":"a","age":"3"}', 'age', 'must be a whole number'],
    [
      'a number beyond all',
      '{"name":"a","age":1e400}',
      'age',
      'would be rounded: write a number of at most 15 digits, or a text where one may be',
    ],
  ])('is refused with the field that is to blame when it is %s', async (_what, payload, field, issue) => {
    const answer = await post(await server(), '/api/people', payload)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({
      error: { code: 'VALIDATION_ERROR', message: `${field} ${issue}.`, details: { field, issue } },
    })
  })

  it('may begin with a byte order mark, hold odd characters, and its last of equal keys counts', async () => {
    const bare = await server()
    const bodies = [
      '\uFEFF{"name":"a"}',
      '{"name":"b","name":"a"}',
      '{"name":"a","nickname":"\\u0001\\ufffe\\ud83d\\uDE00\\\\u0000"}',
    ]
    for (const body of bodies) expect((await post(bare, '/api/people', body)).json()).toEqual({ name: 'a' })
  })

  it('is not needed where none is asked for, whatever the content type says', async () => {
    const bare = await server()
    const types = ['application/json', 'text/plain', 'application/x-www-form-urlencoded', ';']
    for (const method of ['POST', 'DELETE'] as const)
      for (const type of types)
        for (const length of [{}, { 'content-length': '0' }]) {
          const headers = { 'content-type': type, ...length }
          const answer = await bare.call({ method, url: '/api/anything', headers })
          expect([answer.statusCode, answer.json()], type).toEqual([200, { body: 'none' }])
        }
    expect((await bare.call({ method: 'POST', url: '/api/people' })).json()).toMatchObject({
      error: { details: { field: 'name' } },
    })
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/json',
    ';',
  ])(`is 415 as %s ${errorRow('shared', 415)}`, async type => {
    const answer = await post(await server(), '/api/people', '{"name":"a"}', type)
    expect(answer.statusCode).toBe(415)
    expect(answer.json()).toMatchObject({ error: { code: 'UNSUPPORTED_MEDIA_TYPE' } })
  })

  it('is taken with a charset beside its type', async () => {
    const answer = await post(
      await server(),
      '/api/people',
      '{"name":"ä"}',
      'application/json; charset=utf-8',
    )
    expect(answer.json()).toEqual({ name: 'ä' })
  })

  it(`is 413 beyond 1 MiB ${errorRow('shared', 413)}`, async () => {
    const bare = await server()
    const frame = '{"name":""}'
    const bodyOf = (bytes: number) => `{"name":"${'x'.repeat(bytes - frame.length)}"}`
    expect((await post(bare, '/api/people', bodyOf(1024 * 1024))).statusCode).toBe(201)
    const answer = await post(bare, '/api/people', bodyOf(1024 * 1024 + 1))
    expect(answer.statusCode).toBe(413)
    expect(answer.json()).toMatchObject({ error: { code: 'PAYLOAD_TOO_LARGE' } })
  })

  it.each([
    ['said to be', { 'content-length': 4_000_000 }],
    ['found to be', { 'transfer-encoding': 'chunked' }],
  ])(
    'that is %s too large may be sent to its end, so that no client loses the answer',
    async (_what, sized) => {
      const { app } = await server()
      const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/people`
      const headers = { 'content-type': 'application/json', ...sized }
      const half = 'x'.repeat(2_000_000)
      const outcome = await sendToTheEnd(url, { headers, first: half, rest: half })
      expect(outcome).toEqual({ status: 413, isConnectionKept: true })
    },
  )

  it('leaves out of the answer what the answer does not declare', async () => {
    const answer = await post(await server(), '/api/people', '{"name":"a","age":3,"password":"hunter2"}')
    expect(answer.json()).toEqual({ name: 'a' })
  })
})

/** What comes back for these bytes until the connection ends. */
async function exchange(bytes: string): Promise<string> {
  const { app } = await server()
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes))
    let received = ''
    socket.setEncoding('utf8').on('data', text => {
      received += text
    })
    socket.on('close', () => resolve(received)).on('error', reject)
  })
}

describe('a request that names two hosts', () => {
  it.each([
    ['others', 'Host: a\r\nHost: b\r\n'],
    ['the same', 'Host: a\r\nX: y\r\nhOST: a\r\n'],
    ['an empty one', 'host: a\r\nhost:\r\n'],
  ])('is refused: %s', async (_what, lines) => {
    const answer = await exchange(`GET /api/chat/taken HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`)
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(JSON.parse(body)).toEqual({ error: 'Host: must be sent once', code: 'VALIDATION_ERROR' })
  })

  it('is not one that names a host elsewhere', async () => {
    const lines = 'Host: a\r\nX: Host\r\nVary: host\r\nConnection: close\r\n'
    expect(await exchange(`GET /api/hello HTTP/1.1\r\n${lines}\r\n`)).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })
})

describe('bytes that are no request', () => {
  it.each([
    ['garbage', 'HELLO\r\n\r\n', 'This is not an HTTP request.'],
    ['letters that are not escaped', 'GET /api/people?search=ä HTTP/1.1\r\nhost: x\r\n\r\n', 'as in %C3%A4'],
    ['too many headers', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 'too large'],
    [
      'two lengths',
      'POST /api/people HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      'This is not an HTTP request.',
    ],
  ])('are refused in the generic shape, and the connection ends: %s', async (_what, bytes, message) => {
    const [head = '', body = ''] = (await exchange(bytes)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(JSON.parse(body)).toEqual({
      error: { code: 'VALIDATION_ERROR', message: expect.stringContaining(message), details: {} },
    })
  })
})

it('a request that breaks off while hooks wait is answered, so that what they hold is let go', async () => {
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<number>()
  const bare = await bareServer({
    routes: app => {
      app.addHook('onRequest', async request => {
        const gone = new Promise(resolve => request.raw.once('close', resolve))
        asked.resolve()
        await gone
      })
      app.addHook('onSend', async (_request, reply) => answered.resolve(reply.statusCode))
      makeRoutes(app)
    },
  })
  const client = connect(Number(new URL(await bare.app.listen({ host: '127.0.0.1', port: 0 })).port))
  const head = 'POST /api/anything HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
  client.write(`${head}Content-Length: 30\r\n\r\n{"con`)
  await asked.promise
  client.destroy()
  expect(await answered.promise).toBe(400)
  expect(bare.logged.filter(({ level }) => Number(level) > 30)).toEqual([])
})
