import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { errorRow } from '#test/spec/row.ts'
import { buildApp, type TestApp, testApp } from '#test/support/build-app.ts'
import { manualClock } from '#test/support/manual-clock.ts'

const header = 'edge-access-jwt-assertion'
const audience = 'agents-audience-tag'
const issuer = 'https://gate.test'

interface KeyServer {
  url: string
  fetches: number
  /** What the next fetch is answered with. */
  status: number
  body: string
  close(): Promise<void>
}

/** Serves a key set on loopback and counts how often it is asked for. */
async function serveKeys(keys: unknown): Promise<KeyServer> {
  const server: Server = createServer((_request, response) => {
    served.fetches += 1
    response.writeHead(served.status, { 'content-type': 'application/json' }).end(served.body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const served: KeyServer = {
    url: `http://127.0.0.1:${port}/certs`,
    fetches: 0,
    status: 200,
    body: JSON.stringify({ keys }),
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
  return served
}

function environmentFor(url: string, tag = audience, from = issuer) {
  return { GATEWAY_JWKS_URL: url, GATEWAY_AUDIENCE: tag, GATEWAY_ISSUER: from }
}

/** What the service makes of a token: the user, nobody, or a refusal. */
async function verdictOn(app: TestApp, token: string, name = header): Promise<string> {
  const headers = { [name]: token }
  const { status, body } = await app.call<{ agents: { name: string }[]; error: { code: string } }>(
    'GET',
    '/api/agents',
    { headers },
  )
  if (status !== 200) return `${status} ${body.error.code}`
  const made = await app.call('POST', '/api/agents', { headers, body: { name: 'default' } })
  // A user may create agents, only not under this name.
  return made.status === 409 ? 'user' : 'nobody'
}

const refused = '401 UNAUTHORIZED'

async function makeKey(id: string, alg = 'RS256') {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid: id, alg, use: 'sig' }
  return { privateKey, publicKey, jwk, alg, id }
}

type Key = Awaited<ReturnType<typeof makeKey>>

const seconds = () => Math.floor(Date.now() / 1000)

function sign(
  key: { privateKey: CryptoKey | Uint8Array; alg: string; id: string },
  claims: Record<string, unknown> = {},
  head: Partial<JWTHeaderParameters> = {},
): Promise<string> {
  const usual = {
    email: 'olga@example.com',
    aud: [audience],
    iss: issuer,
    iat: seconds(),
    exp: seconds() + 600,
  }
  return new SignJWT({ ...usual, ...claims })
    .setProtectedHeader({ alg: key.alg, kid: key.id, ...head })
    .sign(key.privateKey)
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe(`a token ${errorRow('shared', 401)}`, () => {
  let keys: KeyServer
  let app: TestApp
  let url: string
  let rsa: Key
  let elliptic: Key
  let stranger: Key

  beforeAll(async () => {
    rsa = await makeKey('key-1')
    elliptic = await makeKey('key-ec', 'ES256')
    stranger = await makeKey('key-1')
    keys = await serveKeys([rsa.jwk, elliptic.jwk])
    app = await buildApp({ environment: environmentFor(keys.url) })
    url = await app.listen()
  })

  afterAll(async () => {
    await app.close()
    await keys.close()
  })

  it('names a user when it is signed by RS256 or ES256 for this service', async () => {
    expect(await verdictOn(app, await sign(rsa))).toBe('user')
    expect(await verdictOn(app, await sign(elliptic))).toBe('user')
    expect(await verdictOn(app, await sign(rsa, { aud: audience }))).toBe('user')
    expect(await verdictOn(app, await sign(rsa, { aud: ['another', audience] }))).toBe('user')
  })

  it.each<[what: string, claims: Record<string, unknown>]>([
    ['without an audience', { aud: undefined }],
    ['for another audience', { aud: 'another' }],
    ['for the beginning of our audience', { aud: audience.slice(0, -1) }],
    ['for no audience at all', { aud: [] }],
    ['without an issuer', { iss: undefined }],
    ['from another issuer', { iss: `${issuer}.evil.test` }],
    ['without an end', { exp: undefined }],
    ['that has ended', { exp: 1_000_000_000 }],
    ['that has not begun', { nbf: 4_000_000_000 }],
    ['whose end is text', { exp: '4000000000' }],
  ])('%s is refused', async (_what, claims) => {
    expect(await verdictOn(app, await sign(rsa, claims))).toBe(refused)
  })

  it.each<[reason: string, claim: string | undefined, claims: Record<string, unknown>]>([
    ['audience', 'aud', { aud: 'another' }],
    ['audience', 'aud', { aud: undefined }],
    ['issuer', 'iss', { iss: 'https://other.test' }],
    ['expired', 'exp', { exp: 1_000_000_000 }],
    ['not_yet_valid', 'nbf', { nbf: 4_000_000_000 }],
    ['malformed', 'exp', { exp: undefined }],
    ['signature', undefined, {}],
  ])('that is refused names the kind, %s, and the log the claim %s', async (reason, claim, claims) => {
    const token = await sign(reason === 'signature' ? stranger : rsa, claims)
    app.logged.length = 0
    const { body } = await app.call('GET', '/api/agents', { headers: { [header]: token } })
    expect(body).toEqual({
      error: { code: 'UNAUTHORIZED', message: expect.any(String), details: { reason } },
    })
    const lines = app.logged.map(line => JSON.parse(line)).filter(line => line.reason !== undefined)
    expect(lines.map(line => [line.reason, line.claim])).toEqual([[reason, claim]])
    expect(app.logged.join()).not.toContain(token.split('.')[2])
  })

  it.each([
    ['that nothing has', '/api/nothing', 404],
    ['that can’t be read', '/api/agents/%zz', 400],
    ['that is too long', `/api/agents/${'x'.repeat(600)}`, 404],
  ])('that is no good is refused on a path %s', async (_what, path, status) => {
    const call = async (token: string) => app.call('GET', path, { headers: { [header]: token } })
    const unauthorized = { status: 401, body: { error: { code: 'UNAUTHORIZED' } } }
    expect(await call(await sign(stranger))).toMatchObject(unauthorized)
    expect((await call(await sign(rsa))).status).toBe(status)
  })

  it.each([
    ['with the name of a server', 'http://agents.test/api/nothing'],
    ['with the name of a server, which can’t be read', 'HTTP://agents.test/api/%zz'],
    ['with escaped letters', '/%61pi/nothing'],
  ])('that is no good is refused on an address %s', async (_what, path) => {
    const { hostname, port } = new URL(url)
    const headers = { [header]: await sign(stranger) }
    const sent = request({ hostname, port, path, headers }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    expect(answer.resume().statusCode).toBe(401)
  })

  it('signed by somebody else under the id of our key is refused', async () => {
    expect(await verdictOn(app, await sign(stranger))).toBe(refused)
    expect(await verdictOn(app, await sign(stranger, {}, { jwk: stranger.jwk }))).toBe(refused)
    expect(await verdictOn(app, await sign(rsa, {}, { kid: '../../key-1' }))).toBe(refused)
  })

  it.each(['none', 'None', 'NONE', ''])('without a signature, alg %j, is refused', async alg => {
    const [, claims] = (await sign(rsa)).split('.')
    const head = encode({ alg, kid: 'key-1', typ: 'JWT' })
    for (const token of [`${head}.${claims}.`, `${head}.${claims}`, `${head}.${claims}.x`])
      expect(await verdictOn(app, token)).toBe(refused)
  })

  it('signed with our public key as if it were a shared secret is refused', async () => {
    const publicKeyAsSecret = new TextEncoder().encode(await exportSPKI(rsa.publicKey))
    const token = await sign({ privateKey: publicKeyAsSecret, alg: 'HS256', id: 'key-1' })
    expect(await verdictOn(app, token)).toBe(refused)
  })

  it.each(['RS384', 'RS512', 'PS256'])('signed by %s is refused, whatever the key set says', async alg => {
    const key = await makeKey('key-other', alg)
    const served = await serveKeys([key.jwk])
    onTestFinished(() => served.close())
    const other = await testApp({ environment: environmentFor(served.url) })
    expect(await verdictOn(other, await sign(key))).toBe(refused)
  })

  it.each(['jku', 'x5u'])(
    'that names its own key set in %s is refused, and nobody looks there',
    async name => {
      const evil = await serveKeys([stranger.jwk])
      onTestFinished(() => evil.close())
      expect(await verdictOn(app, await sign(stranger, {}, { [name]: evil.url }))).toBe(refused)
      expect(await verdictOn(app, await sign(stranger, {}, { [name]: evil.url, kid: 'key-new' }))).toBe(
        refused,
      )
      expect(evil.fetches).toBe(0)
    },
  )

  it('is refused if anything in it was changed', async () => {
    const [head = '', claims = '', signature = ''] = (await sign(rsa)).split('.')
    const changed = encode({
      ...JSON.parse(Buffer.from(claims, 'base64url').toString()),
      email: 'eve@example.com',
    })
    const tokens = [
      `${head}.${changed}.${signature}`,
      `${head}.${claims}.${signature.slice(0, -8)}`,
      `${head}.${claims}`,
      `${head}.${claims}.${signature}.${signature}`,
      `Bearer ${head}.${claims}.${signature}`,
      `${head}.${claims}.${signature}, ${head}.${claims}.${signature}`,
      `${encode({ alg: 'RS256', kid: 'key-1', crit: ['exp'] })}.${claims}.${signature}`,
    ]
    for (const token of tokens) expect(await verdictOn(app, token)).toBe(refused)
    expect(await verdictOn(app, `${head}.${claims}.${signature}`)).toBe('user')
  })

  it.each([undefined, '', '  ', 'olga', 7, null, ['olga@example.com'], { $ne: '' }])(
    'whose e-mail is %j names nobody',
    async email => {
      expect(await verdictOn(app, await sign(rsa, { email }))).toBe('nobody')
    },
  )

  it('stands behind the scheme "Bearer" where the header is Authorization', async () => {
    const environment = { ...environmentFor(keys.url), GATEWAY_HEADER: 'Authorization' }
    const behind = await testApp({ environment })
    const token = await sign(rsa)
    const verdict = (value: string) => verdictOn(behind, value, 'authorization')
    for (const value of [`Bearer ${token}`, `bearer  ${token}`]) expect(await verdict(value)).toBe('user')
    for (const value of ['Bearer', 'Bearer null', `Basic ${token}`, `Bearer Bearer ${token}`])
      expect(await verdict(value), value).toBe(refused)
    const { body } = await behind.call<{ components: object }>('GET', '/openapi.json')
    expect(body.components).toMatchObject({
      securitySchemes: { gateway: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    })
  })

  it('makes its user the same person in any letter case, and never another one', async () => {
    const send = async (email: string, method: string, path: string, body?: object) =>
      app.call<{ id: string }>(method, path, {
        headers: { [header]: await sign(rsa, { email }) },
        ...(body === undefined ? {} : { body }),
      })
    const { body } = await send('KÄse@Example.com', 'POST', '/api/agents', { name: 'case' })
    expect((await send('käse@example.COM', 'GET', `/api/agents/${body.id}`)).status).toBe(200)
    // The Kelvin sign, whose small letter is a k.
    expect((await send('\u212aäse@example.com', 'GET', `/api/agents/${body.id}`)).status).toBe(403)
  })
})

describe('the keys', () => {
  it('are fetched with the first token, once, and not for one that was seen', async () => {
    const key = await makeKey('key-1')
    const keys = await serveKeys([key.jwk])
    onTestFinished(() => keys.close())
    const app = await testApp({ environment: environmentFor(keys.url) })
    expect(keys.fetches).toBe(0)
    const tokens = await Promise.all(['a', 'b', 'a'].map(name => sign(key, { email: `${name}@example.com` })))
    await Promise.all(tokens.map(token => verdictOn(app, token)))
    expect(keys.fetches).toBe(1)
  })

  it('may rotate at any time: a new one is fetched when a token names it, an old one is forgotten', async () => {
    const [before, after] = [await makeKey('key-1'), await makeKey('key-2')]
    const keys = await serveKeys([before.jwk])
    onTestFinished(() => keys.close())
    const app = await testApp({ environment: environmentFor(keys.url) })
    expect(await verdictOn(app, await sign(before))).toBe('user')
    keys.body = JSON.stringify({ keys: [after.jwk] })
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, n) => sign(after, { email: `${n}@example.com` })),
    )
    const verdicts = await Promise.all(tokens.map(token => verdictOn(app, token)))
    expect(new Set(verdicts)).toEqual(new Set(['user']))
    expect(keys.fetches).toBeLessThanOrEqual(6)
    expect(await verdictOn(app, await sign(before, { email: 'other@example.com' }))).toBe(refused)
  })

  it('are not fetched for every made-up key id', async () => {
    const key = await makeKey('key-1')
    const keys = await serveKeys([key.jwk])
    onTestFinished(() => keys.close())
    const clock = manualClock(new Date().toISOString())
    const app = await testApp({ environment: environmentFor(keys.url), clock })
    for (let n = 0; n < 20; n += 1)
      expect(await verdictOn(app, await sign(key, {}, { kid: `made-up-${n}` }))).toBe(refused)
    // The first fetch, and the few looks for a new key.
    expect(keys.fetches).toBe(6)
    clock.advance(5000)
    expect(await verdictOn(app, await sign(key, {}, { kid: 'made-up' }))).toBe(refused)
    expect(keys.fetches).toBe(7)
  })
})

describe('a key that the gateway has withdrawn', () => {
  const minutes = 60_000

  async function stage() {
    const [key, other] = [await makeKey('key-1'), await makeKey('key-2')]
    const keys = await serveKeys([key.jwk, other.jwk])
    onTestFinished(() => keys.close())
    const clock = manualClock(new Date().toISOString())
    const app = await testApp({ environment: environmentFor(keys.url), clock })
    const sign1 = (email: string) => sign(key, { email, exp: seconds() + 3600 })
    const [seen, unseen] = [await sign1('seen@example.com'), await sign1('unseen@example.com')]
    const valid = await sign(other, { exp: seconds() + 3600 })
    for (let n = 0; n < 3; n += 1) expect(await verdictOn(app, seen)).toBe('user')
    return { app, clock, keys, other, seen, unseen, valid }
  }

  it('opens nothing after five minutes, though its tokens have not ended', async () => {
    const { app, clock, keys, other, seen, unseen, valid } = await stage()
    keys.body = JSON.stringify({ keys: [other.jwk] })
    clock.advance(5 * minutes - 1)
    expect(await verdictOn(app, seen)).toBe('user')
    expect(keys.fetches).toBe(1)
    clock.advance(1)
    expect(await verdictOn(app, seen)).toBe(refused)
    expect(await verdictOn(app, unseen)).toBe(refused)
    expect(await verdictOn(app, valid)).toBe('user')
  })

  it('costs one look at the keys in five minutes, whoever comes', async () => {
    const { app, clock, keys, seen, unseen, valid } = await stage()
    clock.advance(5 * minutes)
    const tokens = [seen, unseen, valid, seen]
    for (const verdict of await Promise.all(tokens.map(token => verdictOn(app, token))))
      expect(verdict).toBe('user')
    clock.advance(5 * minutes - 1)
    for (const token of tokens) expect(await verdictOn(app, token)).toBe('user')
    expect(keys.fetches).toBe(2)
  })

  it('cannot hide behind keys that cannot be fetched', async () => {
    const { app, clock, keys, seen } = await stage()
    keys.status = 500
    clock.advance(5 * minutes)
    expect(await verdictOn(app, seen)).toBe('500 IDENTITY_UNAVAILABLE')
    keys.status = 200
    expect(await verdictOn(app, seen)).toBe('user')
  })
})

describe('keys that cannot be had', () => {
  it.each([
    ['an error', 500, 'broken'],
    ['nothing', 404, ''],
    ['no JSON', 200, '<html>'],
    ['no key set', 200, '{"keys":"none"}'],
    ['a list', 200, '[]'],
  ])('are no fault of the caller: the gateway answers with %s', async (_what, status, body) => {
    const key = await makeKey('key-1')
    const keys = await serveKeys([key.jwk])
    onTestFinished(() => keys.close())
    const app = await testApp({ environment: environmentFor(keys.url) })
    Object.assign(keys, { status, body })
    expect(await verdictOn(app, await sign(key))).toBe('500 IDENTITY_UNAVAILABLE')
  })
})

it('a token that was seen is refused as soon as it has ended', async () => {
  const key = await makeKey('key-1')
  const keys = await serveKeys([key.jwk])
  onTestFinished(() => keys.close())
  const token = await sign(key)
  // The clock begins when the token does, however long the service takes to start.
  const clock = manualClock(new Date().toISOString())
  const app = await testApp({ environment: environmentFor(keys.url), clock })
  expect(await verdictOn(app, token)).toBe('user')
  clock.advance(599_000)
  expect(await verdictOn(app, token)).toBe('user')
  clock.advance(2000)
  expect(await verdictOn(app, token)).toBe(refused)
})

describe.skipIf(!process.env.REAL_FIXTURES)('the corpus of tokens (needs REAL_FIXTURES)', () => {
  interface Corpus {
    header_name: string
    audience: string
    issuer: string
    jwks: { keys: unknown[] }
    vectors: { name: string; token: string; expect: string }[]
  }
  const folder = `${process.env.REAL_FIXTURES}/security`
  const read = (name: string) => JSON.parse(readFileSync(`${folder}/${name}`, 'utf8'))
  const corpus: Corpus = process.env.REAL_FIXTURES ? read('jwt.json') : { vectors: [] }
  let keys: KeyServer
  let app: TestApp

  beforeAll(async () => {
    keys = await serveKeys(read('jwks.json').keys)
    app = await buildApp({
      environment: {
        ...environmentFor(keys.url, corpus.audience, corpus.issuer),
        GATEWAY_HEADER: corpus.header_name,
      },
    })
  })

  afterAll(async () => {
    await app.close()
    await keys.close()
  })

  const verdicts: Record<string, string[]> = {
    accept: ['user'],
    reject: [refused],
    'accept or reject, never crash': ['user', refused],
    'reject or strip, decided once': [refused],
    'no user': ['nobody'],
    'no user (deny outside default)': ['nobody'],
    'same user or another, but decided once': ['user'],
  }

  it('has a known verdict on every token', () => {
    expect(corpus.vectors.length).toBeGreaterThan(25)
    expect(Object.keys(verdicts)).toEqual(expect.arrayContaining(corpus.vectors.map(vector => vector.expect)))
  })

  it.each(corpus.vectors)('$name: $expect', async ({ token, expect: expected }) => {
    expect(verdicts[expected]).toContain(await verdictOn(app, token))
    expect(keys.fetches).toBeLessThanOrEqual(6)
  })
})
