import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorRow, row } from '#test/spec/row.ts'
import { makeAgent } from '#test/support/agents.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Gateway, headerName, startGateway } from '#test/support/gateway.ts'
import { removeAtOnce } from '#test/support/remove-at-once.ts'

type Headers = Record<string, string>

let gateway: Gateway
let app: TestApp

beforeAll(async () => {
  gateway = await startGateway()
  app = await buildApp({ environment: gateway.environment })
})

afterAll(async () => {
  await app.close()
  await gateway.close()
})

async function give(agentId: string, owner: Headers, email: string, role: string) {
  return app.call<{ id: string }>('POST', `/api/agents/${agentId}/admins`, {
    headers: owner,
    body: { email, role },
  })
}

describe('admins of an agent', () => {
  it(`are listed, added and removed by the owner ${row('GET /api/agents/{id}/admins')} ${row('POST /api/agents/{id}/admins')} ${row('DELETE /api/agents/{id}/admins/{adminId}')}`, async () => {
    const owner = await gateway.headers('owner@example.com')
    const id = await makeAgent(app, { headers: owner })
    const added = await give(id, owner, 'New.Admin@Example.com', 'admin')
    expect(added.status).toBe(201)
    expect(added.body).toEqual({
      id: expect.any(String),
      email: 'new.admin@example.com',
      role: 'admin',
      created_at: expect.any(String),
    })
    const list = () =>
      app.call<{ admins: { email: string; role: string }[]; meta: object }>(
        'GET',
        `/api/agents/${id}/admins`,
        { headers: owner },
      )
    expect((await list()).body).toMatchObject({
      admins: [
        { email: 'owner@example.com', role: 'owner' },
        { email: 'new.admin@example.com', role: 'admin' },
      ],
      meta: { total: 2, limit: 50, offset: 0, has_more: false },
    })
    const removed = await app.call('DELETE', `/api/agents/${id}/admins/${added.body.id}`, { headers: owner })
    expect(removed).toMatchObject({ status: 200, body: { success: true } })
    expect((await list()).body.admins).toHaveLength(1)
  })

  it('are one entry an e-mail, whatever its letter case', async () => {
    const owner = await gateway.headers('owner@example.com')
    const id = await makeAgent(app, { headers: owner })
    expect((await give(id, owner, 'twice@example.com', 'viewer')).status).toBe(201)
    expect((await give(id, owner, 'TWICE@example.com', 'admin')).status).toBe(409)
    expect((await give(id, owner, 'no e-mail', 'admin')).status).toBe(400)
    expect((await give(id, owner, 'x@example.com', 'god')).status).toBe(400)
  })

  it.each(['root@localhost', 'jörg@bücher.example', 'o.connor+x@mail.example.org'])(
    'may have any address that the gateway may name: %s',
    async email => {
      const owner = await gateway.headers('owner@example.com')
      const id = await makeAgent(app, { headers: owner })
      expect((await give(id, owner, email, 'viewer')).status).toBe(201)
      const headers = await gateway.headers(email)
      expect((await app.call('GET', `/api/agents/${id}`, { headers })).status).toBe(200)
    },
  )

  it.each(['nobody', '@example.com', 'a@', 'a b@example.com', 'a@b@example.com', ' a@example.com'])(
    'have addresses of e-mail: %j is none',
    async email => {
      const owner = await gateway.headers('owner@example.com')
      const answer = await give(await makeAgent(app, { headers: owner }), owner, email, 'viewer')
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({
        error: { details: { field: 'email', issue: 'must be an email address' } },
      })
    },
  )

  it('always keep one owner', async () => {
    const owner = await gateway.headers('owner@example.com')
    const id = await makeAgent(app, { headers: owner })
    const { body } = await app.call<{ admins: { id: string }[] }>('GET', `/api/agents/${id}/admins`, {
      headers: owner,
    })
    const last = await app.call('DELETE', `/api/agents/${id}/admins/${body.admins[0]?.id}`, {
      headers: owner,
    })
    expect(last).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } })
    expect((await app.call('DELETE', `/api/agents/${id}/admins/unknown`, { headers: owner })).status).toBe(
      404,
    )
  })

  it('are removed once, also by several at the same time', async () => {
    const owner = await gateway.headers('owner@example.com')
    const id = await makeAgent(app, { headers: owner })
    const { body } = await give(id, owner, 'second@example.com', 'owner')
    const path = `/api/agents/${id}/admins/${body.id}`
    const answers = await Promise.all([1, 2, 3, 4].map(() => app.call('DELETE', path, { headers: owner })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404])
  })

  it('keep one owner also when all are removed at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const owner = await gateway.headers('owner@example.com')
      const id = await makeAgent(app, { headers: owner })
      for (const name of ['second', 'third']) await give(id, owner, `${name}@example.com`, 'owner')
      const list = () =>
        app.call<{ admins: { id: string }[] }>('GET', `/api/agents/${id}/admins`, { headers: owner })
      const { body } = await list()
      const remove = (admin: { id: string }) =>
        app.call('DELETE', `/api/agents/${id}/admins/${admin.id}`, { headers: owner })
      await Promise.all(body.admins.map(remove))
      const { platform } = app.service.infrastructure
      const left = await platform.selectFrom('agent_admins').select('id').where('agent_id', '=', id).execute()
      expect(left.length).toBeGreaterThan(0)
    }
  })

  it("cannot be reached through another agent's path", async () => {
    const owner = await gateway.headers('owner@example.com')
    const [mine, other] = [await makeAgent(app, { headers: owner }), await makeAgent(app, { headers: owner })]
    const entry = await give(other, owner, 'somebody@example.com', 'viewer')
    expect(
      (await app.call('DELETE', `/api/agents/${mine}/admins/${entry.body.id}`, { headers: owner })).status,
    ).toBe(404)
  })

  it('of the default agent cannot be managed by callers without a role on it', async () => {
    const body = { email: 'intruder@example.com', role: 'owner' }
    expect((await app.call('POST', '/api/agents/default/admins', { body })).status).toBe(403)
    const headers = await gateway.headers('intruder@example.com')
    expect((await app.call('POST', '/api/agents/default/admins', { headers, body })).status).toBe(403)
  })
})

describe(`one's own agents ${row('GET /api/auth/agents')}`, () => {
  it('are listed with the role on each', async () => {
    const owner = await gateway.headers('owner@example.com')
    const id = await makeAgent(app, { headers: owner })
    await give(id, owner, 'lists@example.com', 'viewer')
    const { body } = await app.call('GET', '/api/auth/agents', {
      headers: await gateway.headers('LISTS@example.com'),
    })
    expect(body).toEqual({
      agents: [{ id, name: expect.any(String), role: 'viewer', power: 'viewer' }],
      meta: { total: 1, limit: 50, offset: 0, has_more: false },
    })
  })

  it('are the public one alone without a user', async () => {
    const { body } = await app.call('GET', '/api/auth/agents')
    expect(body).toMatchObject({
      agents: [{ id: 'default', name: 'default', role: 'admin', power: 'admin' }],
    })
    const sorted = await app.call('GET', '/api/auth/agents?sort=role,created_at,id&cursor=')
    expect(sorted.body).toMatchObject({ agents: [{ id: 'default' }], meta: { has_more: false } })
  })
})

describe('roles', () => {
  it('let a viewer read only, an admin change, an owner manage', async () => {
    const owner = await gateway.headers('owner@example.com')
    const id = await makeAgent(app, { headers: owner })
    await give(id, owner, 'viewer@example.com', 'viewer')
    await give(id, owner, 'admin@example.com', 'admin')
    const agent = `/api/agents/${id}`
    const statuses = async (email: string) => {
      const headers = await gateway.headers(email)
      const calls = [
        app.call('GET', agent, { headers }),
        app.call('POST', `${agent}/chat`, { headers, body: { content: 'Hello' } }),
        app.call('PUT', agent, { headers, body: { description: 'x' } }),
        app.call('POST', `${agent}/admins`, { headers, body: { email: `${email}.friend`, role: 'viewer' } }),
      ]
      return (await Promise.all(calls)).map(({ status }) => status)
    }
    expect(await statuses('viewer@example.com')).toEqual([200, 403, 403, 403])
    expect(await statuses('admin@example.com')).toEqual([200, 200, 200, 403])
    expect(await statuses('owner@example.com')).toEqual([200, 200, 200, 201])
    expect(await statuses('stranger@example.com')).toEqual([403, 403, 403, 403])
  })

  it('begin at once when the entry is added, and after a refusal as well', async () => {
    const owner = await gateway.headers('owner@example.com')
    const id = await makeAgent(app, { headers: owner })
    const headers = await gateway.headers('comer@example.com')
    expect((await app.call('GET', `/api/agents/${id}`, { headers })).status).toBe(403)
    await give(id, owner, 'comer@example.com', 'viewer')
    expect((await app.call('GET', `/api/agents/${id}`, { headers })).status).toBe(200)
  })

  it('end with the agent', async () => {
    const owner = await gateway.headers('owner@example.com')
    const id = await makeAgent(app, { headers: owner })
    expect((await app.call('GET', `/api/agents/${id}`, { headers: owner })).status).toBe(200)
    await app.call('DELETE', `/api/agents/${id}`, { headers: owner })
    expect((await app.call('GET', `/api/agents/${id}/admins`, { headers: owner })).status).toBe(404)
  })

  it('end at once when the entry is removed', async () => {
    const owner = await gateway.headers('owner@example.com')
    const id = await makeAgent(app, { headers: owner })
    const entry = await give(id, owner, 'leaver@example.com', 'viewer')
    const headers = await gateway.headers('leaver@example.com')
    expect((await app.call('GET', `/api/agents/${id}`, { headers })).status).toBe(200)
    await app.call('DELETE', `/api/agents/${id}/admins/${entry.body.id}`, { headers: owner })
    expect((await app.call('GET', `/api/agents/${id}`, { headers })).status).toBe(403)
  })

  it(`are refused in plain text before the body is read ${errorRow('shared', 403)}`, async () => {
    const owner = await gateway.headers('owner@example.com')
    const id = await makeAgent(app, { headers: owner })
    const { status, headers, body } = await app.call('PUT', `/api/agents/${id}`, {
      headers: { ...(await gateway.headers('stranger@example.com')), 'content-type': 'application/json' },
      payload: '{ this is no JSON',
    })
    expect(status).toBe(403)
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(body).toContain('Access denied')
  })
})

describe('an address that no database could hold', () => {
  it('is told to be one only to those who may ask', async () => {
    const owner = await gateway.headers('owner@example.com')
    const id = await makeAgent(app, { headers: owner })
    const stranger = await gateway.headers('stranger@example.com')
    const status = async (path: string, headers: Headers) => (await app.call('GET', path, { headers })).status
    for (const path of [`/api/agents/${id}/sources/%00`, `/api/agents/${id}/chat?search=%00`]) {
      expect(await status(path, stranger)).toBe(403)
      expect(await status(path, {})).toBe(403)
      expect(await status(path, owner)).toBe(400)
    }
    expect(await status('/api/agents/%00', {})).toBe(403)
    expect(await status('/api/agents/%00', owner)).toBe(400)
  })
})

describe('the public default agent', () => {
  const calls = [
    'GET /api/agents/default',
    'POST /api/agents/default/chat',
    'PUT /api/agents/default',
  ] as const
  it.each([
    ['full', [200, 200, 200]],
    ['chat', [200, 200, 403]],
    ['read', [200, 403, 403]],
  ])('with PUBLIC_ACCESS=%s answers callers without a user %j', async (publicAccess, expected) => {
    const open = await testApp({ environment: { PUBLIC_ACCESS: publicAccess } })
    const statuses = []
    for (const line of calls) {
      const [method = '', path = ''] = line.split(' ')
      const body = method === 'PUT' ? { description: 'x' } : { content: 'Hello' }
      statuses.push((await open.call(method, path, method === 'GET' ? {} : { body })).status)
    }
    expect(statuses).toEqual(expected)
  })
})

describe(`the identity gateway's token ${errorRow('shared', 401)}`, () => {
  const refused = { status: 401, body: { error: { code: 'UNAUTHORIZED' } } }

  it.each([
    ['expired', { exp: 1_000_000_000 }],
    ['not yet valid', { nbf: 4_000_000_000 }],
    ['for another audience', { aud: ['other'] }],
    ['from another issuer', { iss: 'https://evil.test' }],
  ])('is refused when %s, on the default agent too', async (_what, claims) => {
    const headers = await gateway.headers('owner@example.com', claims)
    for (const path of [
      '/api/agents',
      '/api/agents/default',
      '/api/agents/default/chat',
      '/api/agents/default/sources/%00?a=%00',
      '/api/agents/%00',
      '/api/no/such/path',
    ])
      expect(await app.call('GET', path, { headers })).toMatchObject(refused)
  })

  it.each(['null', 'undefined', 'Bearer x', 'a.b', '..', 'not a token'])(
    'is refused when it is %j',
    async token => {
      expect(await app.call('GET', '/api/agents', { headers: { [headerName]: token } })).toMatchObject(
        refused,
      )
    },
  )

  it('counts as absent when it is empty, and as nobody without an e-mail', async () => {
    expect(await app.call('GET', '/api/agents', { headers: { [headerName]: '' } })).toMatchObject({
      status: 200,
    })
    const headers = await gateway.headers('x', { email: undefined })
    expect(await app.call('POST', '/api/agents', { headers, body: { name: 'x' } })).toMatchObject({
      status: 403,
    })
  })

  it('is the only header that names a user', async () => {
    const headers = {
      'cf-access-authenticated-user-email': 'owner@example.com',
      'x-forwarded-email': 'owner@example.com',
    }
    const { body } = await app.call<{ agents: unknown[] }>('GET', '/api/agents', { headers })
    expect(body.agents).toHaveLength(1)
  })

  it('is verified once while it is valid, and again with new keys after a rotation', async () => {
    const rotating = await startGateway()
    const own = await testApp({ environment: rotating.environment })
    const before = await rotating.headers('owner@example.com')
    for (let n = 0; n < 3; n += 1)
      expect((await own.call('GET', '/api/agents', { headers: before })).status).toBe(200)
    expect(rotating.fetches()).toBe(1)
    await rotating.rotate()
    const after = await rotating.headers('owner@example.com')
    expect((await own.call('GET', '/api/agents', { headers: after })).status).toBe(200)
    expect(rotating.fetches()).toBe(2)
    await rotating.close()
  })

  it('cannot be verified while the keys cannot be had, which is no fault of the caller', async () => {
    const lost = await startGateway()
    const headers = await lost.headers('owner@example.com')
    await lost.close()
    const own = await testApp({ environment: lost.environment })
    expect(await own.call('GET', '/api/agents', { headers })).toMatchObject({
      status: 500,
      body: { error: { code: 'IDENTITY_UNAVAILABLE' } },
    })
  })
})

describe('the development user', () => {
  it('is who every own request acts as', async () => {
    const own = await testApp({ environment: { DEV_USER: 'Dev@example.com' } })
    expect(
      (await own.call('POST', '/api/agents', { body: { name: 'mine' }, headers: { host: 'localhost:8080' } }))
        .status,
    ).toBe(201)
  })

  it.each([
    ['another origin', { host: 'localhost:8080', origin: 'https://evil.test' }],
    ['a name that only points here', { host: 'rebound.evil.test' }],
    ['an opaque origin', { host: '127.0.0.1:8080', origin: 'null' }],
  ])('is nobody for a request with %s', async (_what, headers) => {
    const own = await testApp({ environment: { DEV_USER: 'dev@example.com' } })
    const refused = await own.call<string>('POST', '/api/agents', { body: { name: 'theirs' }, headers })
    expect(refused.status).toBe(403)
    expect(refused.body).toContain('web pages of another origin never act as a user')
  })
})

describe('a client that goes away', () => {
  it('in the middle of an upload gives the agent back', async () => {
    const own = await testApp({ environment: { DEV_USER: 'dev@example.com' } })
    const id = await makeAgent(own)
    const socket = connect(Number(new URL(await own.listen()).port), '127.0.0.1')
    const lines = [
      `POST /api/agents/${id}/sources HTTP/1.1`,
      'host: localhost',
      'content-type: multipart/form-data; boundary=x',
      'content-length: 5000',
      '',
      '--x',
      'content-disposition: form-data; name="file"; filename="half.txt"',
      '',
      'The first half of a file',
    ]
    socket.write(lines.join('\r\n'))
    // The job that is left before an upload is stored tells that it is under way.
    const jobs = () =>
      own.service.infrastructure.agentDatabases.use(id, ({ db }) =>
        db.selectFrom('outbox').select('name').execute(),
      )
    await eventually(async () => expect(await jobs()).toEqual([{ name: 'upload.discard' }]))
    socket.destroy()
    await once(socket, 'close')
    // A handle that was lost would be waited for.
    await removeAtOnce(own, id)
  })
})
