import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { bareServer, plainRoute } from '#test/support/bare-server.ts'

/** A server that takes any body, and says where its handler was reached. */
async function server() {
  const reached: string[] = []
  const bare = await bareServer({
    routes: app => {
      for (const area of ['generic', 'chat', 'payments'] as const)
        app.route({
          method: ['GET', 'POST'],
          url: `/api/${area}/:id`,
          config: { ...plainRoute, area },
          schema: { params: Type.Object({ id: Type.String() }) },
          handler: async request => {
            reached.push(request.url)
            return {}
          },
        })
    },
  })
  const post = (payload: string, area = 'generic') =>
    bare.call({
      method: 'POST',
      url: `/api/${area}/x`,
      payload,
      headers: { 'content-type': 'application/json' },
    })
  return { ...bare, post, reached }
}

const nul = 'must not hold the character U+0000'
const half = 'must not hold half of a character, a surrogate without its other half'

describe('a body', () => {
  it.each([
    ['{"name":"a\\u0000"}', 'name', nul],
    ['{"name":"\\ud800"}', 'name', half],
    ['{"name":"\\uDC00 a"}', 'name', half],
    ['{"name":"\\ude00\\ud83d"}', 'name', half],
    ['{"a":1,"list":[{"b":[true,"\\u0000"]}]}', 'list.0.b.1', nul],
    ['{"settings":{"\\u0000":1}}', 'settings', nul],
    ['{"a":[[],{"b":"c"}],"settings":{"a":{},"b":[1],"\\u0000":1}}', 'settings', nul],
    ['{"a":[[],{"b":"c"},[{"d":{}},"\\ud800"]],"e":{}}', 'a.2.1', half],
    ['{"\\ud800":1}', 'body', half],
    ['"\\u0000"', 'body', nul],
    [`{"${'x'.repeat(1000)}":"\\u0000"}`, `${'x'.repeat(100)}…`, nul],
  ])(
    'that no database could hold is refused with the field that is to blame: %.60s',
    async (json, field, issue) => {
      const { post, reached } = await server()
      const answer = await post(json)
      expect(answer.statusCode).toBe(400)
      expect(answer.json()).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: { field, issue } } })
      expect(reached).toEqual([])
    },
  )

  it('is refused in the shape of its area', async () => {
    const { post } = await server()
    expect((await post('{"a":"\\u0000"}', 'chat')).json()).toEqual({
      error: `a: ${nul}`,
      code: 'VALIDATION_ERROR',
    })
    expect((await post('{"a":"\\u0000"}', 'payments')).json()).toEqual({
      error: `a: ${nul}`,
      code: 400,
      details: { field: 'a', issue: nul },
    })
  })

  it.each([
    '{"name":"\\\\u0000 \\\\ud800"}',
    '{"name":"\\ud83d\\ude00"}',
    '{"name":"\\u0001\\uffff\\u00e9"}',
    '{"name":"💥 \uFFFD"}',
  ])('that only looks like it is taken: %s', async json => {
    const { post } = await server()
    expect((await post(json)).statusCode).toBe(200)
  })

  it('is looked through however deeply it is nested', async () => {
    const { post } = await server()
    const depth = 20_000
    const answer = await post(`${'['.repeat(depth)}"\\u0000"${']'.repeat(depth)}`)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ error: { details: { issue: nul } } })
  })

  it('that is no JSON is still told to be none', async () => {
    const { post } = await server()
    expect((await post('{"a":"\\u0000"')).json()).toMatchObject({ error: { code: 'MALFORMED_JSON' } })
  })
})

describe('an address', () => {
  it.each([
    ['/api/generic/a%00', 'id'],
    ['/api/generic/a?search=b%00', 'search'],
    ['/api/generic/a?search=a&search=%00', 'search.1'],
    ['/api/generic/a?a%00=b', 'query'],
  ])('with U+0000 is refused with the parameter that is to blame: %s', async (url, field) => {
    const { call, reached } = await server()
    const answer = await call({ method: 'GET', url })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({
      error: { code: 'VALIDATION_ERROR', details: { field, issue: nul } },
    })
    expect(reached).toEqual([])
  })

  it.each(['/api/generic/a%2500', '/api/generic/%F0%9F%98%80?q=%01%2500', '/api/generic/a?q=%ed%a0%80'])(
    'with other odd characters is taken: %s',
    async url => {
      expect((await (await server()).call({ method: 'GET', url })).statusCode).toBe(200)
    },
  )

  it('that leads nowhere is 404 all the same', async () => {
    expect((await (await server()).call({ method: 'GET', url: '/api/%00' })).statusCode).toBe(404)
  })
})
