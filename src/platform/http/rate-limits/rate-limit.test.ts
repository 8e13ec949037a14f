import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { errorRow, limitRow } from '#test/spec/row.ts'
import { type BareServer, bareServer } from '#test/support/bare-server.ts'
import { testApp } from '#test/support/build-app.ts'
import type { App, Area, LimitClass } from '../app.ts'
import { clientOf } from './rate-limit.ts'

const now = Date.parse('2026-01-01T00:00:10.500Z')

beforeEach(() => {
  vi.useFakeTimers({ now, toFake: ['Date', 'setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
})

function makeRoutes(app: App): void {
  const route = (limit: LimitClass, area: Area = 'generic') =>
    app.route({
      method: ['GET', 'POST'],
      url: `/api/${limit}/${area}`,
      config: { area, access: 'open', limit },
      handler: async () => ({}),
    })
  for (const limit of ['general', 'chat', 'browser', 'bulk', 'none'] as const) route(limit)
  route('chat', 'chat')
  route('general', 'payments')
}

const limits = { general: 3, chat: 2, browser: 2, bulk: 1 }

function server(options: Partial<Parameters<typeof bareServer>[0]> = {}): Promise<BareServer> {
  return bareServer({ routes: makeRoutes, rateLimits: limits, ...options })
}

interface Sender {
  from?: string
  forwardedFor?: string
}

async function statuses(
  bare: BareServer,
  url: string,
  times: number,
  sender: Sender = {},
): Promise<number[]> {
  const all = []
  for (let n = 0; n < times; n += 1) {
    const { from, forwardedFor } = sender
    const answer = await bare.call({
      url,
      ...(from === undefined ? {} : { remoteAddress: from }),
      ...(forwardedFor === undefined ? {} : { headers: { 'x-forwarded-for': forwardedFor } }),
    })
    all.push(answer.statusCode)
  }
  return all
}

describe('a request under a limit', () => {
  it(`is told how many are left and when the minute ends, in Unix seconds ${limitRow('rate-limit-headers')}`, async () => {
    const bare = await server()
    const told = async () => {
      const { headers } = await bare.call({ url: '/api/general/generic' })
      return ['limit', 'remaining', 'reset'].map(name => headers[`x-ratelimit-${name}`])
    }
    const reset = String(Math.ceil(now / 1000) + 60)
    expect(await told()).toEqual(['3', '2', reset])
    vi.advanceTimersByTime(20_000)
    expect(await told()).toEqual(['3', '1', reset])
  })

  it('counts anew when the minute is over', async () => {
    const bare = await server()
    expect(await statuses(bare, '/api/bulk/generic', 2)).toEqual([200, 429])
    vi.advanceTimersByTime(59_000)
    expect(await statuses(bare, '/api/bulk/generic', 1)).toEqual([429])
    vi.advanceTimersByTime(1_001)
    expect(await statuses(bare, '/api/bulk/generic', 2)).toEqual([200, 429])
  })
})

describe(`a request beyond its limit ${errorRow('shared', 429)} ${limitRow('rate-limit-exceeded')}`, () => {
  it('is refused with the three headers and the seconds to wait', async () => {
    const bare = await server()
    await statuses(bare, '/api/bulk/generic', 1)
    vi.advanceTimersByTime(17_500)
    const answer = await bare.call({ url: '/api/bulk/generic' })
    expect(answer.statusCode).toBe(429)
    expect(answer.headers).toMatchObject({
      'x-ratelimit-limit': '1',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Math.ceil(now / 1000) + 60),
      'retry-after': '43',
    })
  })

  it.each([
    [
      '/api/general/generic',
      { error: { code: 'RATE_LIMITED', message: expect.stringMatching(/3 a minute.*60 s/), details: {} } },
    ],
    ['/api/chat/chat', { error: expect.stringMatching(/2 a minute.*60 s/), code: 'RATE_LIMITED' }],
    ['/api/general/payments', { error: expect.stringMatching(/3 a minute.*60 s/), code: 429 }],
  ])(`is refused in the shape of its area: %s ${errorRow('chat', 429)}`, async (url, body) => {
    const bare = await server()
    await statuses(bare, url, 3)
    const answer = await bare.call({ url })
    expect(answer.statusCode).toBe(429)
    expect(answer.json()).toEqual(body)
  })
})

describe('what counts', () => {
  it('is counted for each limit apart, all its routes together', async () => {
    const bare = await server()
    expect(await statuses(bare, '/api/chat/generic', 1)).toEqual([200])
    expect(await statuses(bare, '/api/chat/chat', 2)).toEqual([200, 429])
    expect(await statuses(bare, '/api/browser/generic', 3)).toEqual([200, 200, 429])
    expect(await statuses(bare, '/api/bulk/generic', 2)).toEqual([200, 429])
    expect(await statuses(bare, '/api/general/generic', 4)).toEqual([200, 200, 200, 429])
  })

  it('is a path without a route as well, however it is written', async () => {
    const bare = await server()
    expect(await statuses(bare, '/api/guess/1', 1)).toEqual([404])
    expect(await statuses(bare, 'http://elsewhere/api/guess/2', 1)).toEqual([404])
    expect(await statuses(bare, '//api/guess', 1)).toEqual([404])
    expect(await statuses(bare, '/api/%zz', 1)).toEqual([429])
  })

  it('is neither a preflight nor what is declared free', async () => {
    const bare = await server()
    for (let n = 0; n < 5; n += 1) {
      const preflight = await bare.call({ method: 'OPTIONS', url: '/api/bulk/generic' })
      expect(preflight.statusCode).toBe(204)
      expect(preflight.headers).not.toHaveProperty('x-ratelimit-limit')
    }
    expect(await statuses(bare, '/api/none/generic', 9)).toEqual(Array(9).fill(200))
    expect(await statuses(bare, '/api/bulk/generic', 1)).toEqual([200])
  })

  it('is nothing where the limit is 0', async () => {
    const bare = await server({ rateLimits: { ...limits, bulk: 0 } })
    expect(await statuses(bare, '/api/bulk/generic', 5)).toEqual(Array(5).fill(200))
    expect(await statuses(bare, '/api/chat/generic', 3)).toEqual([200, 200, 429])
  })
})

describe('whom it counts against', () => {
  const url = '/api/bulk/generic'

  it('is the address', async () => {
    const bare = await server()
    expect(await statuses(bare, url, 2, { from: '192.0.2.1' })).toEqual([200, 429])
    expect(await statuses(bare, url, 1, { from: '192.0.2.2' })).toEqual([200])
  })

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:c000:201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['::1', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['192.0.2.1:49152', '192.0.2.1'],
    ['[2001:db8:1:2::1]:49152', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('is, for %s, %s', (address, client) => {
    expect(clientOf(address)).toBe(client)
  })

  it('is the whole network of an IPv6 address', async () => {
    const bare = await server()
    expect(await statuses(bare, url, 1, { from: '2001:db8:1:2::1' })).toEqual([200])
    expect(await statuses(bare, url, 1, { from: '2001:db8:1:2:ffff::9' })).toEqual([429])
    expect(await statuses(bare, url, 1, { from: '2001:db8:1:3::1' })).toEqual([200])
  })

  it('is never what a stranger says of himself', async () => {
    const bare = await server({ trustProxy: ['10.0.0.0/8'] })
    const sendAs = (forwardedFor: string) => statuses(bare, url, 1, { from: '192.0.2.1', forwardedFor })
    expect([...(await sendAs('198.51.100.1')), ...(await sendAs('198.51.100.2'))]).toEqual([200, 429])
    const open = await server()
    const sendTo = (forwardedFor: string) => statuses(open, url, 1, { from: '127.0.0.1', forwardedFor })
    expect([...(await sendTo('198.51.100.1')), ...(await sendTo('198.51.100.2'))]).toEqual([200, 429])
  })

  it('is the last address that a trusted proxy did not write itself', async () => {
    const bare = await server({ trustProxy: ['10.0.0.0/8'] })
    const sendVia = (forwardedFor: string) => statuses(bare, url, 1, { from: '10.0.0.7', forwardedFor })
    expect(await sendVia('198.51.100.1')).toEqual([200])
    expect(await sendVia('203.0.113.9, 198.51.100.1')).toEqual([429])
    expect(await sendVia('198.51.100.1, 10.0.0.8')).toEqual([429])
    expect(await sendVia('198.51.100.2')).toEqual([200])
    expect(await sendVia('198.51.100.2:49152')).toEqual([429])
  })
})

describe(`the service ${limitRow('rate-limit-general')} ${limitRow('rate-limit-chat')} ${limitRow('rate-limit-bulk')}`, () => {
  beforeEach(() => {
    vi.useRealTimers()
  })

  const unset = { RATE_LIMIT_GENERAL: '', RATE_LIMIT_CHAT: '', RATE_LIMIT_BROWSER: '', RATE_LIMIT_BULK: '' }

  it.each([
    ['100 requests in general', 'GET', '/api/agents', '100'],
    ['20 to chat', 'POST', '/api/agents/default/chat', '20'],
    ['10 of the heavy ones', 'DELETE', '/api/agents/default/chat', '10'],
  ])('allows %s a minute unless told otherwise', async (_what, method, path, limit) => {
    const app = await testApp({ environment: unset })
    const { status, headers } = await app.call(method, path, { body: {} })
    expect(status).toBeLessThan(500)
    expect(headers['x-ratelimit-limit']).toBe(limit)
    expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThan(Date.now() / 1000)
    let last = status
    for (let n = 1; n <= Number(limit); n += 1) last = (await app.call(method, path, { body: {} })).status
    expect(last).toBe(429)
  })

  it('counts a refused caller as well, and never those who ask how it is', async () => {
    const app = await testApp({ environment: { RATE_LIMIT_GENERAL: '2' } })
    const send = async (path: string) => (await app.call('GET', path)).status
    expect([await send('/api/agents/foreign'), await send('/api/agents/foreign')]).toEqual([403, 403])
    expect(await send('/api/agents/foreign')).toBe(429)
    for (const path of ['/healthz', '/readyz', '/healthz']) expect(await send(path)).toBe(200)
  })

  it('counts what is open to everybody apart, as many requests as in general', async () => {
    const app = await testApp({ environment: { RATE_LIMIT_GENERAL: '3' } })
    const send = async (path: string) => (await app.call('GET', path)).status
    for (const path of ['/metrics', '/openapi.json', '/docs/']) expect(await send(path)).toBe(200)
    for (const path of ['/metrics', '/openapi.json', '/docs', '/docs/', '/docs/js/scalar.js'])
      expect(await send(path)).toBe(429)
    expect(await send('/api/agents')).toBe(200)
  })
})
