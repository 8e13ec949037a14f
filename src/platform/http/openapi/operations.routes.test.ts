import { describe, expect, it } from 'vitest'
import { bareServer } from '#test/support/bare-server.ts'
import { testApp } from '#test/support/build-app.ts'
import { createMetrics } from '../../metrics.ts'
import { registerOperationRoutes } from './operations.routes.ts'

function server(isReady: () => Promise<boolean>) {
  return bareServer({
    routes: app =>
      registerOperationRoutes(app, {
        metrics: createMetrics(),
        isReady,
      }),
  })
}

describe('a supervisor', () => {
  it('hears that the process is alive, whatever else is wrong', async () => {
    const bare = await server(async () => false)
    const answer = await bare.call({ url: '/healthz' })
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }])
  })

  it('hears whether requests can be served', async () => {
    const ready = await (await server(async () => true)).call({ url: '/readyz' })
    expect([ready.statusCode, ready.json()]).toEqual([200, { status: 'ready' }])
    const lost = () => Promise.reject(new Error('the database is away'))
    for (const isReady of [async () => false, lost]) {
      const waiting = await (await server(isReady)).call({ url: '/readyz' })
      expect([waiting.statusCode, waiting.json()]).toEqual([503, { status: 'not ready' }])
    }
  })

  it('hears so without credentials, and even with bad ones', async () => {
    const environment = { GATEWAY_JWKS_URL: 'http://127.0.0.1:1/', GATEWAY_AUDIENCE: 'x' }
    const app = await testApp({ environment })
    const headers = { 'edge-access-jwt-assertion': 'no token' }
    for (const path of ['/', '/healthz', '/readyz', '/metrics', '/openapi.json', '/docs/'])
      expect((await app.call('GET', path, { headers })).status).toBe(200)
    expect((await app.call('GET', '/api/agents', { headers })).status).toBe(401)
  })
})

it('Prometheus finds each request under its route, not its path, so that callers cannot make up series', async () => {
  const app = await testApp()
  for (const path of ['/api/agents/one', '/api/agents/two', '/api/made/up/1', '/api/made/up/2'])
    await app.call('GET', path)
  const { headers, body } = await app.call<string>('GET', '/metrics')
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(body).toContain('_count{method="GET",route="/api/agents/:id",status="403"} 2')
  expect(body).toContain('_count{method="GET",route="unknown",status="404"} 2')
  expect(body).not.toMatch(/agents\/one|made/)
})

describe.each(['/openapi.json', '/docs/', '/docs/js/scalar.js'])('the file %s', path => {
  it('is sent again only to those who do not have it, and kept by none without asking', async () => {
    const app = await testApp()
    const { headers, body } = await app.call<object>('GET', path)
    expect(headers['cache-control']).toBe('no-cache')
    const etag = String(headers.etag)
    expect(etag).toMatch(/^"[\w-]{43}"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await app.call('GET', path, { headers: { 'if-none-match': known } })
      expect([answer.status, answer.body, answer.headers.etag]).toEqual([304, '', etag])
      expect(answer.headers['content-security-policy']).toBe(headers['content-security-policy'])
    }
    const other = await app.call('GET', path, { headers: { 'if-none-match': '"other"' } })
    expect([other.status, other.headers.etag]).toEqual([200, etag])
    expect(other.body).toEqual(body)
  })
})

describe('the reader of the description', () => {
  it('is found at /docs', async () => {
    const { status, headers } = await (await testApp()).call('GET', '/docs')
    expect([status, headers.location]).toEqual([302, '/docs/'])
  })

  it('is a page that loads nothing from elsewhere', async () => {
    const app = await testApp()
    const page = await app.call<string>('GET', '/docs/')
    expect(page.body).toContain('<title>agentstead API</title>')
    expect(page.status).toBe(200)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    const sources = [...page.body.matchAll(/\b(?:src|href|action)="([^"]*)"/g)].map(
      ([, address = '']) => address,
    )
    expect(sources.length).toBeGreaterThan(0)
    for (const source of sources) {
      const address = new URL(source, 'http://here.test/docs/')
      expect(address.origin).toBe('http://here.test')
      const file = await app.call('GET', address.pathname)
      expect(file.status).toBe(200)
      expect(file.headers['content-type']).toMatch(/javascript/)
    }
    expect(page.body).not.toMatch(/https?:\/\//)
    expect(page.body).toContain('/openapi.json')
    expect(page.body).toContain('"telemetry": false')
    expect(page.body).toContain('"withDefaultFonts": false')
  })

  it('may run its own script only, marked by a nonce, and reach this server only', async () => {
    const app = await testApp()
    const { headers, body } = await app.call<string>('GET', '/docs/')
    const policy = String(headers['content-security-policy'])
    const [, nonce = ''] = /'nonce-([A-Za-z0-9+/=]{22,})'/.exec(policy) ?? []
    expect(nonce).not.toBe('')
    for (const [tag] of body.matchAll(/<script[^>]*>/g)) expect(tag).toContain(`nonce="${nonce}"`)
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/)
    const other = await (await testApp()).call('GET', '/docs/')
    expect(other.headers['content-security-policy']).not.toContain(nonce)
  })

  it.each([
    '/docs/nothing.js',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%2fpackage.json',
  ])('has no other files: %s', async path => {
    const { status, body } = await (await testApp()).call('GET', path)
    expect([status, body]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }])
  })
})
