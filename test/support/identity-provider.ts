/** A real identity provider on loopback, whose answers a test may falsify on their way. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import Provider from 'oidc-provider'

export type Claims = Record<string, unknown>
type Key = Awaited<ReturnType<typeof makeKey>>

export interface IdentityProvider {
  /** Environment variables that have people sign in by it. */
  environment: Record<string, string>
  /** What it says of people, by their login. */
  people: Record<string, Claims>
  /** Changes the ID token that it hands out; undefined leaves it. */
  falsify: ((token: string, key: Key) => Promise<string>) | undefined
  /** From here on it signs with a new key, and publishes no other. */
  rotate(): Promise<void>
  /** Signs in as this person in a browser that comes from `url`; where that is sent to. */
  visit(url: string, login: string): Promise<string>
  stop(): Promise<void>
}

const client = { id: 'agentstead', secret: 'client-secret-4711' }

export async function startIdentityProvider(redirectUri: string): Promise<IdentityProvider> {
  let key = await makeKey('key-1')
  let listener: RequestListener = () => {}
  const server = createServer((request, response) => listener(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const it: IdentityProvider = {
    environment: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: client.id, OIDC_CLIENT_SECRET: client.secret },
    people: {},
    falsify: undefined,
    async rotate() {
      key = await makeKey('key-2')
      begin()
    },
    visit: (url, login) => visit(url, login, redirectUri),
    async stop() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }

  function begin(): void {
    const provider = new Provider(issuer, {
      clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [redirectUri] }],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      scopes: ['openid', 'email', 'profile', 'groups'],
      jwks: { keys: [key.jwk] },
      cookies: { keys: ['test'] },
      pkce: { required: () => true },
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: async () => ({ sub: id, email: `${id}@example.com`, email_verified: true, ...it.people[id] }),
      }),
    })
    provider.use(async (context, next) => {
      await next()
      const { body } = context
      if (context.path !== '/token' || it.falsify === undefined) return
      if (typeof body !== 'object' || body === null || !('id_token' in body)) return
      context.body = { ...body, id_token: await it.falsify(String(body.id_token), key) }
    })
    listener = provider.callback()
  }
  begin()
  return it
}

/** Signs the claims of a token again, some of them changed. */
export async function signAgain(token: string, key: Key, changes: Claims): Promise<string> {
  const claims = { ...decodeJwt(token), ...changes } as JWTPayload
  return await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.jwk.kid }).sign(key.privateKey)
}

export async function makeKey(kid: string) {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { privateKey, jwk: { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' } }
}

/** Walks through the provider's own pages, as a person does. */
async function visit(start: string, login: string, redirectUri: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = start
  let form: URLSearchParams | undefined
  for (let steps = 0; steps < 20; steps += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const method = form === undefined ? 'GET' : 'POST'
    const answer = await fetch(url, {
      method,
      headers: { cookie },
      redirect: 'manual',
      ...(form && { body: form }),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]?.split(/=(.*)/s) ?? []
      cookies.set(name, value)
    }
    const text = await answer.text()
    const location = answer.headers.get('location')
    if (location !== null) {
      url = new URL(location, url).href
      form = undefined
      if (url.startsWith(redirectUri)) return url
      continue
    }
    const next = formIn(text)
    url = new URL(next.action, url).href
    form = new URLSearchParams({ prompt: next.prompt, login, password: 'any' })
  }
  throw new Error('The identity provider leads nowhere.')
}

function formIn(page: string) {
  const [, action] = /action="([^"]+)"/.exec(page) ?? []
  const [, prompt] = /name="prompt" value="([^"]+)"/.exec(page) ?? []
  if (action === undefined || prompt === undefined) throw new Error(`No form: ${page.slice(0, 2000)}`)
  return { action, prompt }
}
