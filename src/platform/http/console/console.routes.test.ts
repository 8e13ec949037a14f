import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bareServer } from '#test/support/bare-server.ts'
import { testApp } from '#test/support/build-app.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import { registerConsoleRoutes } from './console.routes.ts'

/** Writes a folder as the build of the console does; `content` is that of its page. */
function build(folder: string, content: string): void {
  const file = (path: string, type: string, encodings: readonly string[]) => {
    mkdirSync(join(folder, 'assets'), { recursive: true })
    writeFileSync(join(folder, path), content)
    for (const encoding of encodings)
      writeFileSync(join(folder, `${path}.${encoding}`), `${content} as ${encoding}`)
    return { path, type, size: content.length, hash: hash('sha256', content, 'base64url'), encodings }
  }
  const files = [
    file('index.html', 'text/html; charset=utf-8', ['br', 'gz']),
    file('theme.js', 'text/javascript; charset=utf-8', ['br', 'gz']),
    file('icon.svg', 'image/svg+xml', []),
    file('assets/one-1234.js', 'text/javascript; charset=utf-8', ['br', 'gz']),
    file('assets/font-1234.woff2', 'font/woff2', []),
  ]
  writeFileSync(join(folder, 'secret.txt'), 'not in the list')
  writeFileSync(join(folder, 'files.json'), JSON.stringify(files))
}

async function server({ isReady = async () => true, isBuilt = true } = {}) {
  const folder = temporaryDirectory()
  if (isBuilt) build(folder, 'first')
  const dependencies = { folder, version: '1.2.3', baseUrl: 'https://agents.example/<a>/', isReady }
  return { folder, ...(await bareServer({ routes: app => registerConsoleRoutes(app, dependencies) })) }
}

describe('a person who opens the address before the console was built', () => {
  it('reads how to build it, the state of the service, the first commands and the documentation', async () => {
    const app = await testApp({ consoleFolder: temporaryDirectory() })
    const address = await app.listen()
    for (const path of ['/', '/a/default/chat', '/sign-in']) {
      const { status, headers, body } = await app.call<string>('GET', path)
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(body).toMatch(/Version \d+\.\d+\.\d+: <strong>ready</)
      expect(body).toContain('<code>npm run prepare</code>')
      expect(body.match(/<pre>curl [^<]*<\/pre>/g)).toHaveLength(3)
      expect(body.split(`${address}/api/agents/default/`)).toHaveLength(4)
      const links = [...body.matchAll(/href="([^"]*)"/g)].map(([, target = '']) => target)
      expect(links).toEqual(['/docs/', '/openapi.json'])
      for (const link of links) expect((await app.call('GET', link)).status).toBe(200)
    }
  })

  it('reads when the service is not ready', async () => {
    const isReady = () => Promise.reject(new Error('the database is away'))
    const { call } = await server({ isReady, isBuilt: false })
    expect((await call({ url: '/' })).body).toContain('not ready')
  })

  it('gets a page that loads nothing, and has nothing on it that the request has named', async () => {
    const { call } = await server({ isBuilt: false })
    const { headers, body } = await call({
      url: '/?<script>',
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example', origin: 'https://evil.example' },
    })
    expect(body).not.toMatch(/evil|<script|https?:\/\/(?!agents\.example\/%3Ca%3E\/api)|src=/)
    const style = /<style>(.*)<\/style>/s.exec(body)?.[1] ?? ''
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
  })
})

describe('the built console', () => {
  it.each(['/', '/sign-in?return_to=/a', '/a/default', '/a/default/chat/1?x=%22', '/a/..%2fsecret.txt'])(
    'is one page for all of its views: %s',
    async url => {
      const { statusCode, headers, body } = await (await server()).call({ url })
      expect([statusCode, body, headers['content-type']]).toEqual([200, 'first', 'text/html; charset=utf-8'])
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
      expect(policy).toContain("require-trusted-types-for 'script'; trusted-types agentstead")
      expect(policy).not.toMatch(/unsafe|\*|https?:/)
      expect(headers).toMatchObject({
        'cache-control': 'no-cache',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': 'camera=(), microphone=(), geolocation=()',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        vary: 'Accept-Encoding',
      })
    },
  )

  it.each([
    ['br, gzip', 'br', 'first as br'],
    ['gzip, deflate', 'gzip', 'first as gz'],
    ['gzip;q=0.5, br;q=0', 'gzip', 'first as gz'],
    ['GZIP', 'gzip', 'first as gz'],
    ['brotli, x-gzip', undefined, 'first'],
    ['', undefined, 'first'],
  ])('is compressed for clients that accept it: %s', async (accepted, encoding, content) => {
    const { call } = await server()
    const answer = await call({ url: '/', headers: { 'accept-encoding': accepted } })
    expect([answer.headers['content-encoding'], answer.body]).toEqual([encoding, content])
  })

  it('has assets that caches keep for a year, and files at fixed addresses that they ask for again', async () => {
    const { call } = await server()
    const forever = 'public, max-age=31536000, immutable'
    for (const [url, type, kept] of [
      ['/assets/one-1234.js', 'text/javascript; charset=utf-8', forever],
      ['/assets/font-1234.woff2?x', 'font/woff2', forever],
      ['/theme.js', 'text/javascript; charset=utf-8', 'no-cache'],
      ['/icon.svg', 'image/svg+xml', 'no-cache'],
    ] as const) {
      const { statusCode, headers } = await call({ url })
      expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([200, type, kept])
      const again = await call({ url, headers: { 'if-none-match': String(headers.etag) } })
      expect([again.statusCode, again.body]).toEqual([304, ''])
    }
    const [plain, packed] = await Promise.all([
      call({ url: '/' }),
      call({ url: '/', headers: { 'accept-encoding': 'br' } }),
    ])
    expect(plain.headers.etag).not.toBe(packed.headers.etag)
  })

  it.each([
    '/assets/two.js',
    '/assets/one-1234.js.br',
    '/assets/../secret.txt',
    '/assets/..%2fsecret.txt',
    '/assets/%2e%2e/secret.txt',
    '/assets/..%5csecret.txt',
    '/assets/',
    '/assets/__proto__',
    '/secret.txt',
    '/files.json',
    '/index.html',
  ])('has no file but those of its list: %s', async url => {
    const answer = await (await server()).call({ url })
    expect([answer.statusCode, answer.json()]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }])
  })

  it('is replaced by the next build without a restart', async () => {
    const { folder, call } = await server()
    expect((await call({ url: '/' })).body).toBe('first')
    build(folder, 'second')
    expect((await call({ url: '/' })).body).toBe('second')
  })

  it('leaves unknown paths of the API to the API', async () => {
    const app = await testApp()
    for (const path of ['/api/unknown', '/unknown', '/a'])
      expect((await app.call('GET', path)).status).toBe(404)
  })
})
