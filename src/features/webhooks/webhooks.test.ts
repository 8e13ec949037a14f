import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtAreas, notYetBuilt } from '#test/spec/built-areas.ts'
import { outboundEvents } from '#test/spec/outbound-events.ts'
import { errorRow, row } from '#test/spec/row.ts'
import { giveRole, makeAgent } from '#test/support/agents.ts'
import { testApp } from '#test/support/build-app.ts'
import { startGateway } from '#test/support/gateway.ts'
import { useNameServer } from '#test/support/name-server.ts'
import { setWebhookStage, type WebhookStage } from '#test/support/webhook-stage.ts'
import type { Webhook } from './webhooks.schema.ts'

const url = 'http://127.0.0.1:9/events'
const problem = (field: string) => ({ status: 400, body: { error: { details: { field } } } })
const fixtures = process.env.REAL_FIXTURES
const corpus: { url: string; expect: string }[] =
  fixtures === undefined ? [] : JSON.parse(readFileSync(`${fixtures}/security/ssrf-urls.json`, 'utf8'))
let stage: WebhookStage

beforeAll(async () => {
  stage = await setWebhookStage()
})

afterAll(() => stage[Symbol.asyncDispose]())

async function newPath(): Promise<string> {
  return `/api/agents/${await stage.newAgent()}/webhooks`
}

describe('a webhook', () => {
  it(`is created, with its secret in this answer only ${row('POST /api/agents/{id}/webhooks')}`, async () => {
    const path = await newPath()
    const events = ['message.sent', 'source.ready', 'message.sent']
    const { status, body } = await stage.app.call<Webhook>('POST', path, { body: { url, events } })
    expect(status).toBe(201)
    const { secret, ...webhook } = body as Webhook & { secret: string }
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/)
    expect(webhook).toEqual({
      id: expect.any(String),
      url,
      events: ['message.sent', 'source.ready'],
      enabled: true,
      disabled_reason: null,
      failing_since: null,
      created_at: expect.any(String),
      updated_at: webhook.created_at,
    })
    expect((await stage.app.call('GET', `${path}/${webhook.id}`)).body).toEqual(webhook)
    expect((await stage.app.call('GET', path)).body).toMatchObject({
      webhooks: [webhook],
      meta: { total: 1 },
    })
  })

  it('may have the address of another one', async () => {
    const agentId = await stage.newAgent()
    const [one, two] = [await stage.register(agentId, url), await stage.register(agentId, url)]
    expect(one.id).not.toBe(two.id)
    expect(one.secret).not.toBe(two.secret)
  })

  it('is changed, disabled, enabled and deleted', async () => {
    const agentId = await stage.newAgent()
    const { secret: _, ...made } = await stage.register(agentId, url)
    const path = `/api/agents/${agentId}/webhooks/${made.id}`
    const put = async (body: object) => (await stage.app.call<Webhook>('PUT', path, { body })).body
    const changed = await put({ url: `${url}/2`, events: ['message.sent'] })
    expect(changed).toEqual({
      ...made,
      url: `${url}/2`,
      events: ['message.sent'],
      updated_at: expect.any(String),
    })
    expect(await stage.app.call('PUT', path, { body: {} })).toMatchObject({ status: 400 })
    expect(await put({ enabled: false })).toMatchObject({
      enabled: false,
      disabled_reason: expect.any(String),
    })
    expect(await put({ events: ['*'] })).toMatchObject({ enabled: false, events: ['*'] })
    expect(await put({ enabled: true })).toMatchObject({
      enabled: true,
      disabled_reason: null,
      events: ['*'],
    })
    expect(await stage.app.call('DELETE', path)).toMatchObject({ status: 200, body: { success: true } })
    expect(await stage.app.call('GET', path)).toMatchObject({ status: 404 })
  })

  it('is one of at most 50', async () => {
    const agentId = await stage.newAgent()
    for (let n = 0; n < 50; n += 1) await stage.register(agentId, url)
    const answer = await stage.app.call('POST', `/api/agents/${agentId}/webhooks`, {
      body: { url, events: ['*'] },
    })
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } })
  })

  it(`is refused for an event that does not exist, with those that do ${errorRow('webhooks', 400)}`, async () => {
    const path = await newPath()
    const events = ['message.sent', 'message.read']
    const answer = await stage.app.call('POST', path, { body: { url, events } })
    expect(answer).toMatchObject(problem('events'))
    const areas: readonly string[] = builtAreas
    const pending = notYetBuilt.map(({ marker }) => marker)
    const known = outboundEvents.filter(
      ({ area, name }) => areas.includes(area) && !pending.includes(`[event ${name}]`),
    )
    expect(known.length).toBeGreaterThan(3)
    for (const { name } of known) expect(JSON.stringify(answer.body)).toContain(name)
    const made = await stage.app.call<Webhook>('POST', path, {
      body: { url, events: known.map(({ name }) => name) },
    })
    expect(made.status).toBe(201)
    expect(await stage.app.call('PUT', `${path}/${made.body.id}`, { body: { events } })).toMatchObject(
      problem('events'),
    )
    expect(await stage.app.call('POST', path, { body: { url, events: [] } })).toMatchObject({ status: 400 })
  })

  it.each([
    'http://127.0.0.2/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:10.0.0.1]/',
    'http://2852039166/',
    'http://0x7f.2/',
    'http://user:password@example.com/',
    'http://127.0.0.1:22/\\@example.com',
  ])('is refused for %s, also by a change', async address => {
    const path = await newPath()
    const refused = { status: 400, body: { error: { code: 'OUTBOUND_REFUSED' } } }
    expect(await stage.app.call('POST', path, { body: { url: address, events: ['*'] } })).toMatchObject(
      refused,
    )
    const { body } = await stage.app.call<Webhook>('POST', path, { body: { url, events: ['*'] } })
    expect(await stage.app.call('PUT', `${path}/${body.id}`, { body: { url: address } })).toMatchObject(
      refused,
    )
    expect((await stage.app.call('GET', `${path}/${body.id}`)).body).toMatchObject({ url })
  })

  it.skipIf(corpus.length === 0)(
    'is refused for each address of an attack list, by its name too (needs REAL_FIXTURES)',
    async () => {
      const inside = { get: () => '10.0.0.1' }
      await useNameServer(new Proxy<Record<string, string>>({}, inside))
      const app = await testApp({ environment: { DEV_USER: 'dev@example.com' } })
      const path = `/api/agents/${await makeAgent(app)}/webhooks`
      const refused = corpus.filter(({ expect: wanted }) => !wanted.startsWith('allow'))
      expect(refused.length).toBeGreaterThan(30)
      for (const { url: address } of refused)
        expect(
          await app.call('POST', path, { body: { url: address, events: ['*'] } }),
          address,
        ).toMatchObject({
          status: 400,
          body: { error: { code: expect.stringMatching(/^(?:VALIDATION_ERROR|OUTBOUND_REFUSED)$/) } },
        })
    },
  )

  it.each([
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    '//example.com/',
    'example.com/hook',
    'hook',
    'https://',
  ])('is no address of the web if it is %j, also by a change', async address => {
    const path = await newPath()
    const wrong = { status: 400, body: { error: { code: 'VALIDATION_ERROR', details: { field: 'url' } } } }
    const body = { url: address, events: ['*'] }
    expect(await stage.app.call('POST', path, { body })).toMatchObject(wrong)
    const { id } = (await stage.app.call<Webhook>('POST', path, { body: { ...body, url } })).body
    expect(await stage.app.call('PUT', `${path}/${id}`, { body: { url: address } })).toMatchObject(wrong)
  })

  it(`of another agent, or that does not exist, is not found ${errorRow('webhooks', 404)}`, async () => {
    const theirs = await stage.newAgent()
    const { id } = await stage.register(theirs, url)
    const { body } = await stage.app.call<{ id: string }>('POST', `/api/agents/${theirs}/webhooks/${id}/test`)
    const path = await newPath()
    const sibling = await stage.register(theirs, url)
    const notFound = { status: 404, body: { error: { code: 'NOT_FOUND' } } }
    for (const one of [`${path}/${id}`, `/api/agents/${theirs}/webhooks/nothing`])
      for (const [method, rest, input] of [
        ['GET', ''],
        ['PUT', '', { enabled: false }],
        ['DELETE', ''],
        ['POST', '/secret'],
        ['POST', '/test'],
        ['GET', '/deliveries'],
        ['POST', `/deliveries/${body.id}/retry`],
      ] as const)
        expect(await stage.app.call(method, one + rest, { body: input }), method + rest).toMatchObject(
          notFound,
        )
    const retry = `/api/agents/${theirs}/webhooks/${sibling.id}/deliveries/${body.id}/retry`
    expect(await stage.app.call('POST', retry)).toMatchObject(notFound)
  })

  it('is read by viewers, and changed by admins', async () => {
    const gateway = await startGateway()
    const app = await testApp({ environment: { ...gateway.environment, OUTBOUND_ALLOW: '127.0.0.1' } })
    const owner = await gateway.headers('owner@example.com')
    const agentId = await makeAgent(app, { headers: owner })
    await giveRole(app, agentId, { email: 'viewer@example.com', role: 'viewer', headers: owner })
    const viewer = await gateway.headers('viewer@example.com')
    const path = `/api/agents/${agentId}/webhooks`
    const address = `${url}?token=s3cret`
    const { body } = await app.call<Webhook>('POST', path, {
      headers: owner,
      body: { url: address, events: ['*'] },
    })
    expect((await app.call('GET', `${path}?search=s3c`, { headers: owner })).body).toMatchObject({
      webhooks: [{ url: address }],
    })
    expect((await app.call('GET', `${path}?search=s3c`, { headers: viewer })).body).toMatchObject({
      webhooks: [],
    })
    expect((await app.call('GET', path, { headers: viewer })).body).toMatchObject({ webhooks: [{ url }] })
    expect((await app.call('GET', `${path}/${body.id}`, { headers: viewer })).body).toMatchObject({ url })
    for (const rest of ['', `/${body.id}`, `/${body.id}/deliveries`])
      expect((await app.call('GET', path + rest, { headers: viewer })).status).toBe(200)
    for (const [method, rest] of [
      ['POST', ''],
      ['PUT', `/${body.id}`],
      ['DELETE', `/${body.id}`],
      ['POST', `/${body.id}/secret`],
      ['POST', `/${body.id}/test`],
      ['POST', `/${body.id}/deliveries/any/retry`],
    ] as const)
      expect((await app.call(method, path + rest, { headers: viewer })).status, method + rest).toBe(403)
    await gateway.close()
  })
})
