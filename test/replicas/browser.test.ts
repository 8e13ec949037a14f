/** Browser sessions of one process, used through another. */
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Channel, openChannel } from '../support/cast-client.ts'
import { isFullEndurance, scaled } from '../support/endurance.ts'
import { eventually } from '../support/eventually.ts'
import { type ReplicaSet, startReplicas } from '../support/replica-set.ts'
import { type Site, sitePages, startSite } from '../support/site-server.ts'

const path = '/api/agents/default/browser'
const calls = scaled(200)
const limit = 1000
const environment = { DEV_USER: 'dev@example.com', OUTBOUND_ALLOW: '127.0.0.1', LEASE_SECONDS: '5' }

interface Executed {
  result: { title?: string; downloads?: { id: string }[]; value?: unknown; image?: string }
}

let site: Site
let replicas: ReplicaSet

beforeAll(async () => {
  site = await startSite(request =>
    request.path === '/file'
      ? { headers: { 'content-disposition': 'attachment; filename="a.txt"' }, body: 'All of the file' }
      : sitePages({ '/': '<title>Shop</title><h1>Shop</h1><a href="/file">File</a>' })(
          request,
          undefined as never,
        ),
  )
  replicas = await startReplicas(2, (_index, url) => ({
    ...environment,
    REPLICA_URL: url,
    RATE_LIMIT_BROWSER: String(limit),
    TRUST_PROXY: '127.0.0.1',
  }))
})

afterAll(async () => {
  await replicas[Symbol.asyncDispose]()
  await site[Symbol.asyncDispose]()
})

async function open(index: number, set = replicas) {
  const answer = await set.at(index).call<{ id: string; live_view_url: string }>('POST', path, { body: {} })
  expect(answer.status).toBe(201)
  return answer.body
}

const execute = (id: string, body: object, index?: number) =>
  (index === undefined ? replicas.any() : replicas.at(index)).call<Executed>(
    'POST',
    `${path}/${id}/execute`,
    {
      body,
    },
  )

it(`answers ${calls} mixed calls right, whichever process they reach`, async () => {
  const { id } = await open(0)
  for (let round = 0; round < calls / 10; round += 1) {
    for (const index of [0, 1]) {
      expect(await execute(id, { action: 'navigate', url: site.url }, index)).toMatchObject({
        status: 200,
        body: { result: { title: 'Shop', status: 200 } },
      })
      const shot = await execute(id, { action: 'screenshot' }, index)
      expect(shot.body.result.image).toMatch(/^data:image/)
    }
    const { body } = await execute(id, { action: 'click', selector: 'a' }, round)
    const [file] = body.result.downloads ?? []
    for (const index of [0, 1]) {
      const download = await replicas.at(index).call('GET', `${path}/${id}/downloads/${file?.id}`)
      expect(download).toMatchObject({
        status: 200,
        body: 'All of the file',
        headers: { 'content-length': '15' },
      })
    }
    expect(await replicas.any().call('GET', `${path}/${id}`)).toMatchObject({ body: { status: 'active' } })
    expect(await replicas.any().call('GET', path)).toMatchObject({ status: 200 })
    expect(await execute(id, { action: 'nonsense' }, 1)).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR' } },
    })
  }
  expect(await replicas.at(1).call('DELETE', `${path}?id=${id}`)).toMatchObject({ status: 200 })
  expect(await replicas.at(0).call('GET', `${path}/${id}`)).toMatchObject({ body: { status: 'closed' } })
  expect(await execute(id, { action: 'outline' }, 1)).toMatchObject({ status: 409 })
})

it('counts each call once, whichever processes it takes', async () => {
  const { id } = await open(0)
  const headers = { 'x-forwarded-for': '192.0.2.7' }
  const remaining = async (index: number) =>
    Number((await replicas.at(index).call('GET', path, { headers })).headers['x-ratelimit-remaining'])
  for (let n = 0; n < 5; n += 1) {
    const body = { action: 'outline' }
    await replicas.at(1).call('POST', `${path}/${id}/execute`, { body, headers })
  }
  for (let n = 0; n < 3; n += 1) await remaining(0)
  let asked = 0
  await eventually(async () => expect((await remaining(1)) + ++asked).toBe(limit - 5 - 3))
})

it.each([
  ['forged', (expiresAt: number) => `${expiresAt}.${createHmac('sha256', 'guess').digest('base64url')}`],
  ['expired', () => '1.x'],
  ['empty', () => ''],
])('takes a %s signature for none', async (_what, make) => {
  const { id } = await open(0)
  const headers = { 'x-replica-signature': make(Date.now() + 30_000) }
  const body = { action: 'evaluate', expression: '1 + 1' }
  const answer = await replicas.at(1).call('POST', `${path}/${id}/execute`, { body, headers })
  expect(answer).toMatchObject({ status: 200, body: { result: { value: 2 } } })
  expect(answer.headers).toHaveProperty('x-ratelimit-remaining')
})

it('lets SQL not change where requests are passed on to', async () => {
  const { id } = await open(0)
  const query = `UPDATE browser_sessions SET replica_url = 'http://127.0.0.1:1' WHERE id = '${id}'`
  const refused = await replicas.at(0).call('POST', '/api/agents/default/sql/execute', { body: { query } })
  expect(refused).toMatchObject({ status: 403 })
  expect(await execute(id, { action: 'outline' }, 1)).toMatchObject({ status: 200 })
})

it('has channels at every process, with the token of a link', async () => {
  const { id, live_view_url } = await open(0)
  const token = new URL(live_view_url).searchParams.get('token')
  await execute(id, { action: 'navigate', url: site.url }, 1)
  for (const index of [0, 1]) {
    const { url } = replicas.at(index)
    await using cast = await openChannel(url, `/v1/sessions/cast?sessionId=${id}&token=${token}`)
    await cast.next(({ data }) => data !== undefined, 'a frame')
    await using logs: Channel<{ text: string }[]> = await openChannel(
      url,
      `/v1/sessions/logs?sessionId=${id}`,
    )
    await execute(id, { action: 'evaluate', expression: `console.log('said ${index}')` })
    await logs.next(([entry]) => entry?.text === `said ${index}`, 'a line')
  }
  const unknown = await openChannel(replicas.at(1).url, `/v1/sessions/cast?sessionId=default.nowhere`)
  expect(await unknown.closed).toMatchObject({ code: 4404 })
  const foreign = await openChannel(replicas.at(1).url, `/v1/sessions/cast?sessionId=${id}&token=foreign`)
  expect(await foreign.closed).toMatchObject({ code: 4403 })
})

it('ends the channels of a key once it is revoked, whichever process they reach', async () => {
  const { id } = await open(0)
  const made = await replicas
    .at(0)
    .call<{ id: string; key: string }>('POST', '/api/auth/keys', { body: { name: 'K' } })
  const headers = { authorization: `Bearer ${made.body.key}` }
  const channels: Channel<{ text: string }[]>[] = []
  for (const index of [0, 1]) {
    const { url } = replicas.at(index)
    channels.push(await openChannel(url, `/v1/sessions/logs?sessionId=${id}`, { headers }))
  }
  await execute(id, { action: 'evaluate', expression: "console.log('said')" })
  for (const channel of channels) await channel.next(([entry]) => entry?.text === 'said', 'a line')
  const revoked = await replicas.at(1).call('DELETE', `/api/auth/keys/${made.body.id}`)
  const since = performance.now()
  expect(revoked.status).toBe(200)
  const ended = await Promise.all(channels.map(({ closed }) => closed))
  expect(ended.map(({ code }) => code)).toEqual([4403, 4403])
  // Without other tests beside it: a busy machine takes its own time.
  if (isFullEndurance) expect(performance.now() - since).toBeLessThan(5_000)
})

it('is taken over and handed back at a process that does not hold the session', async () => {
  const { id } = await open(0)
  const elsewhere = replicas.at(1)
  const takeover = `${path}/${id}/takeover`
  const body = { reason: 'Sign in' }
  const requested = await elsewhere.call<{ takeover_url: string }>('POST', takeover, { body })
  expect(requested.status).toBe(201)
  expect(await execute(id, { action: 'outline' }, 1)).toMatchObject({ status: 409 })
  const { search, pathname } = new URL(requested.body.takeover_url)
  expect(await elsewhere.call('GET', `${pathname}${search}`)).toMatchObject({ status: 200 })
  const token = new URLSearchParams(search).get('token')
  await using person = await openChannel(elsewhere.url, `/v1/sessions/cast?sessionId=${id}&token=${token}`)
  await person.next(message => message.takeover?.is_driver === true, 'the wheel')
  expect(await replicas.at(0).call('GET', takeover)).toMatchObject({ body: { status: 'active' } })
  person.send({ type: 'navigation', action: 'goto', url: site.url })
  await person.next(({ data, url }) => data !== undefined && url?.startsWith(site.url) === true, 'the page')
  person.send({ type: 'handBack', note: 'Done' })
  expect(await person.closed).toMatchObject({ code: 4403 })
  expect(await execute(id, { action: 'outline' }, 1)).toMatchObject({ status: 200 })
})

it('names the variable that the holder lacks', async () => {
  await using without = await startReplicas(2, environment)
  const { id } = await open(0, without)
  const answers = [
    await without.at(1).call('POST', `${path}/${id}/execute`, { body: { action: 'outline' } }),
    await without.at(1).call('DELETE', `${path}?id=${id}`),
  ]
  for (const answer of answers)
    expect(answer).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('REPLICA_URL') } },
    })
})

it('leaves no request hanging when the holder dies, and ends its session', async () => {
  const { id } = await open(0)
  const cast = await openChannel(replicas.at(1).url, `/v1/sessions/cast?sessionId=${id}`)
  const underWay = Array.from({ length: isFullEndurance ? 50 : 5 }, () =>
    execute(id, { action: 'wait', selector: '#never', timeout: 60_000 }, 1),
  )
  await eventually(() => expect(cast.all.length).toBeGreaterThan(0))
  const killed = performance.now()
  await replicas.at(0).kill()
  for (const answer of await Promise.all(underWay))
    expect(answer).toMatchObject({
      status: 500,
      body: { error: { code: 'BROWSER_FAILED', message: expect.stringContaining('holds') } },
    })
  expect(performance.now() - killed).toBeLessThan(30_000)
  await cast.closed
  await eventually(async () => {
    const { body } = await replicas.at(1).call<{ status: string }>('GET', `${path}/${id}`)
    expect(body.status).toBe('error')
  }, 60_000)
  expect(await execute(id, { action: 'outline' }, 1)).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining('has ended') } },
  })
  const late = await openChannel(replicas.at(1).url, `/v1/sessions/cast?sessionId=${id}`)
  expect(await late.closed).toMatchObject({ code: 4404 })
}, 120_000)
