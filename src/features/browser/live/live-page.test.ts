import { readdirSync, statSync } from 'node:fs'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAgent } from '#test/support/agents.ts'
import { openSession } from '#test/support/browser-stage.ts'
import { buildApp, type TestApp } from '#test/support/build-app.ts'
import { createLiveLinks, type Grant } from './live-links.ts'

const hourMs = 60 * 60_000

let app: TestApp

beforeAll(async () => {
  app = await buildApp({ environment: { DEV_USER: 'ada@example.com' } })
})

afterAll(() => app.close())

/** Path and query of a link that the service itself could have made. */
async function linkTo(grant: Grant, expiresAt = Date.now() + hourMs): Promise<string> {
  const { secretBox, clock } = app.service.infrastructure
  const secret = secretBox.derive(['links to browser sessions'])
  const { url } = await createLiveLinks({ secret, origin: () => '', clock }).make(grant, expiresAt)
  return url.replace('/replay/', '/live/')
}

const tokenOf = (link: string) => link.split('token=')[1] ?? ''

async function openAgent() {
  const agentId = await makeAgent(app)
  return { agentId, ...(await openSession(app, { agentId })) }
}

describe('[GET /live/{sessionId}]', () => {
  it('answers the page to watch, which other sites may frame and which loads nothing from elsewhere', async () => {
    const { path } = await openAgent()
    const { body: link } = await app.call<{ url: string }>('GET', `${path}/live-view`)
    const { pathname, search } = new URL(link.url)
    const page = await app.call<string>('GET', `${pathname}${search}`)
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('data-right="watch"') })
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: blob:; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors *",
    })
    expect(page.headers).not.toHaveProperty('x-frame-options')
    expect(page.body).not.toMatch(/https?:|<script(?! type="module" src="assets)|style=|\son\w+=/)
  })

  it('answers the page of a takeover, which pages of this service alone may frame', async () => {
    const { path } = await openAgent()
    const body = { reason: 'Sign in' }
    const asked = await app.call<{ takeover_url: string }>('POST', `${path}/takeover`, { body })
    const { pathname, search } = new URL(asked.body.takeover_url)
    const page = await app.call<string>('GET', `${pathname}${search}`)
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('data-right="takeover"') })
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'self'")
  })

  it('answers every invalid token with the same words, whether or not there is such a session', async () => {
    const { id: sessionId } = await openAgent()
    const other = await openAgent()
    const watch = { sessionId, right: 'watch' } as const
    const key = new TextEncoder().encode('another secret')
    const forged = await new SignJWT({ right: 'watch' })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(sessionId)
      .setExpirationTime('1h')
      .sign(key)
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = { right: 'watch', sub: sessionId, exp: Math.floor(Date.now() / 1000) + 3600 }
    const tokens = {
      none: '',
      foreign: tokenOf(await linkTo({ sessionId: other.id, right: 'watch' })),
      expired: tokenOf(await linkTo(watch, Date.now() - 1000)),
      'of a replay': tokenOf(await linkTo({ sessionId, right: 'replay' })),
      forged,
      unsigned: `${encode({ alg: 'none' })}.${encode(claims)}.`,
      shortened: tokenOf(await linkTo(watch)).slice(0, -1),
    }
    const answers = new Set<string>()
    for (const [name, token] of Object.entries(tokens))
      for (const session of [sessionId, 'nobody.nothing', 'nothing']) {
        const answer = await app.call<string>('GET', `/live/${session}?token=${token}`)
        expect(answer, name).toMatchObject({ status: 403 })
        answers.add(answer.body)
      }
    const twice = await app.call<string>(
      'GET',
      `/live/${sessionId}?token=&token=${tokenOf(await linkTo(watch))}`,
    )
    answers.add(twice.body)
    answers.add((await app.call<string>('GET', `/live/${sessionId}`)).body)
    expect([...answers]).toEqual([expect.stringContaining('ask for a new one')])
  })

  it('says that a session has ended to who has a link to it, also where its agent was deleted', async () => {
    const { agentId, id, path } = await openAgent()
    const link = await linkTo({ sessionId: id, right: 'watch' })
    expect(await app.call('GET', link)).toMatchObject({ status: 200 })
    await app.call('DELETE', `${path.replace(`/${id}`, '')}?id=${id}`)
    const ended = { status: 404, body: expect.stringContaining('The session has ended') }
    expect(await app.call('GET', link)).toMatchObject(ended)
    await app.call('DELETE', `/api/agents/${agentId}`)
    expect(await app.call('GET', link)).toMatchObject(ended)
    expect(await app.call('GET', `/api/agents/${agentId}/browser`)).toMatchObject({ status: 404 })
    expect(readdirSync(app.dataDirectory, { recursive: true }).join(' ')).not.toContain(agentId)
  })

  it('keeps tokens out of the log', async () => {
    const { id } = await openAgent()
    const link = await linkTo({ sessionId: id, right: 'watch' })
    await app.call('GET', link)
    await app.call('GET', `${link}x`)
    await app.call('GET', link.replace('/live/', '/live/assets/'))
    await app.call('GET', link.replace('/live/', '/unknown/'))
    expect(app.logged.join('')).toContain(`/live/${id}`)
    expect(app.logged.join('')).not.toContain(tokenOf(link).split('.')[2])
  })
})

describe('[GET /live/assets/{name}]', () => {
  it('answers what the page consists of, and not again to who has it', async () => {
    const { id } = await openAgent()
    const { body } = await app.call<string>('GET', await linkTo({ sessionId: id, right: 'watch' }))
    const named = Array.from(body.matchAll(/(?:src|href)="(assets\/[^"]+)"/g), ([, name]) => name)
    expect(named).toEqual(['assets/page.css', 'assets/live.css', 'assets/live.js'])
    const script = await app.call<string>('GET', '/live/assets/live.js')
    const imported = Array.from(script.body.matchAll(/from '\.\/([^']+)'/g), ([, name]) => `assets/${name}`)
    for (const name of [...named, ...imported]) {
      const file = await app.call('GET', `/live/${name}`)
      const contentType = name?.endsWith('.css')
        ? 'text/css; charset=utf-8'
        : 'text/javascript; charset=utf-8'
      expect(file, name).toMatchObject({ status: 200, headers: { 'content-type': contentType } })
      const headers = { 'if-none-match': String(file.headers.etag) }
      expect(await app.call('GET', `/live/${name}`, { headers })).toMatchObject({ status: 304 })
    }
  })

  it.each(['nothing.js', '..%2F..%2Fbrowser.service.ts', '__proto__', 'live.html'])(
    'refuses %s',
    async name => {
      expect(await app.call('GET', `/live/assets/${name}`)).toMatchObject({ status: 404 })
    },
  )
})

it('is a page of less than 48 KB in all', () => {
  const folder = new URL('../pages/', import.meta.url)
  const files = readdirSync(folder).filter(name => /^(?:live|page)\b.*\.(?:html|css|js)$/.test(name))
  expect(files.length).toBeGreaterThan(3)
  const bytes = files.reduce((sum, name) => sum + statSync(new URL(name, folder)).size, 0)
  expect(bytes).toBeLessThan(48_000)
})
