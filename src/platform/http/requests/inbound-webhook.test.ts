import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { type BareServer, bareServer, plainRoute } from '#test/support/bare-server.ts'
import { acceptRawBodies, requireSecret, type Signature, verifiedBody } from './inbound-webhook.ts'

const secret = 'shared-secret'
const now = 1_800_000_000_000
const body = '{ "text": "Grüße", "n": 1.0 }'
let server: BareServer
let signature: Signature
let shown: string | undefined

beforeEach(async () => {
  signature = { header: 'x-signature', name: 'v1', secret }
  shown = secret
  server = await bareServer({
    routes: app => {
      void app.register((scope, _options, done) => {
        acceptRawBodies(scope)
        scope.route({
          method: 'POST',
          url: '/api/signed',
          config: plainRoute,
          handler: async request => ({ body: verifiedBody(request, signature).toString() }),
        })
        scope.route({
          method: 'POST',
          url: '/api/shown',
          config: plainRoute,
          handler: async request => {
            requireSecret(request.headers['x-secret'], shown)
            return {}
          },
        })
        done()
      })
      app.route({ method: 'POST', url: '/api/json', config: plainRoute, handler: async ({ body }) => body })
    },
  })
})

async function send(headers: Record<string, string>, payload: string | Buffer = body, url = '/api/signed') {
  const answer = await server.call({ method: 'POST', url, payload, headers })
  return { status: answer.statusCode, body: answer.json() }
}

const sign = (text: string | Buffer, key = secret) => createHmac('sha256', key).update(text).digest('hex')

describe('a signed body', () => {
  it.each([
    ['as it was sent', 'application/json', body],
    ['that says another type', 'text/plain', body],
    ['that is no text', 'application/octet-stream', Buffer.from([0, 255, 254])],
    ['that is empty', 'application/json', ''],
  ])('is taken %s', async (_what, type, payload) => {
    const headers = { 'content-type': type, 'x-signature': `v1=${sign(payload)}` }
    expect(await send(headers, payload)).toEqual({
      status: 200,
      body: { body: Buffer.from(payload).toString() },
    })
  })

  it('is taken for one right signature of several', async () => {
    const header = `v0=${sign(body)}, v1=${sign(body, 'former')},v1=${sign(body).toUpperCase()}`
    expect(await send({ 'x-signature': header })).toMatchObject({ status: 200 })
  })

  it.each([
    ['no signature', undefined, body],
    ['an empty one', '', body],
    ['an empty value', 'v1=', body],
    ['a name alone', 'v1', body],
    ['one of another name', `v0=${sign(body)}`, body],
    ['one without its name', sign(body), body],
    ['half of one', `v1=${sign(body).slice(0, 32)}`, body],
    ['one with more behind it', `v1=${sign(body)}00`, body],
    ['that of another secret', `v1=${sign(body, 'other')}`, body],
    ['that of an empty secret', `v1=${sign(body, '\0')}`, body],
    ['that of another body', `v1=${sign(body)}`, `${body} `],
  ])('is refused with %s', async (_what, header, payload) => {
    const headers = header === undefined ? {} : { 'x-signature': header }
    expect(await send(headers, payload)).toMatchObject({
      status: 401,
      body: { error: { code: 'UNAUTHORIZED' } },
    })
  })

  it.each([undefined, ''])('is let in nowhere while the secret is %j', async unset => {
    signature.secret = unset
    expect(await send({ 'x-signature': `v1=${sign(body, '')}` })).toMatchObject({ status: 401 })
    shown = unset
    expect(await send({ 'x-secret': '' }, body, '/api/shown')).toMatchObject({ status: 401 })
  })

  it('is taken with a signed time that is near, and with no other', async () => {
    signature.window = { seconds: 300, now }
    const seconds = now / 1000
    const at = (time: string | number, signed = time) =>
      send({ 'x-signature': `t=${time},v1=${sign(`${signed}.${body}`)}` })
    for (const time of [seconds, seconds - 300, seconds + 300])
      expect(await at(time)).toMatchObject({ status: 200 })
    for (const time of [seconds - 301, seconds + 301, `-${seconds}`, '', 'NaN', '1e400', ` ${seconds}x`])
      expect(await at(time)).toMatchObject({ status: 401 })
    expect(await at(seconds, seconds - 1)).toMatchObject({ status: 401 })
    expect(await send({ 'x-signature': `v1=${sign(body)}` })).toMatchObject({ status: 401 })
  })
})

it('a secret that is shown must be the whole one', async () => {
  expect(await send({ 'x-secret': secret }, body, '/api/shown')).toMatchObject({ status: 200 })
  for (const wrong of ['', secret.slice(1), `${secret}x`, secret.toUpperCase(), 'undefined'])
    expect(await send({ 'x-secret': wrong }, body, '/api/shown')).toMatchObject({ status: 401 })
  expect(await send({}, body, '/api/shown')).toMatchObject({ status: 401 })
})

it('other routes still read JSON alone', async () => {
  expect(await send({ 'content-type': 'application/json' }, '{"a":1}', '/api/json')).toEqual({
    status: 200,
    body: { a: 1 },
  })
  expect(await send({ 'content-type': 'text/plain' }, 'a', '/api/json')).toMatchObject({ status: 415 })
})
