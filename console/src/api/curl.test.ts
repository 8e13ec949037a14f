import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { curl, quote } from './curl.ts'
import { get, path, post, put, remove } from './request.ts'

const run = promisify(execFile)
const seen: { method?: string; url?: string; type?: string; body: string; authorization?: string }[] = []
const server = createServer(async (request, response) => {
  const { method = '', url = '', headers } = request
  const { 'content-type': type = '', authorization = '' } = headers
  seen.push({ method, url, type, authorization, body: await text(request) })
  response.end('{}')
})
let origin = ''

beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

/** Runs a command as a person would who pastes it into a shell; returns what the server received. */
async function pasted(command: string, environment: Record<string, string> = {}) {
  seen.length = 0
  await run('sh', ['-c', command], { env: { PATH: process.env.PATH ?? '', ...environment } })
  expect(seen).toHaveLength(1)
  return seen[0]
}

const hostile = [
  'it’s',
  "it's",
  '$HOME',
  '`id`',
  '"; rm -rf /',
  'a\nb',
  '\\',
  '!',
  '~',
  '*',
  "''",
  '%41',
  'ü 🙂',
  '@x',
  '<x',
]

describe('a copied command does what the console did', () => {
  it.each(hostile)('with %j in its path, query and body', async value => {
    const address = path`/api/agents/${value}`
    expect(
      await pasted(curl(get(address, { search: value, tag: [value, 'b'], none: undefined }), origin)),
    ).toMatchObject({
      method: 'GET',
      url: `${address}?${new URLSearchParams([
        ['search', value],
        ['tag', value],
        ['tag', 'b'],
      ])}`,
    })
    expect(await pasted(curl(put(address, { body: { [value]: value } }), origin))).toMatchObject({
      method: 'PUT',
      type: 'application/json',
      body: JSON.stringify({ [value]: value }),
    })
  })

  it('without a body', async () => {
    expect(await pasted(curl(remove('/api/x'), origin))).toMatchObject({ method: 'DELETE', url: '/api/x' })
    expect(await pasted(curl(post('/api/x'), origin))).toMatchObject({ method: 'POST', body: '' })
  })

  it('with secrets from the environment, typed or masked', async () => {
    const body = { openai_api_key: 'sk-typed', headers: { Authorization: '••••••••' }, name: 'x' }
    const command = curl(put('/api/x', { body, secrets: ['openai_api_key'] }), origin)
    expect(command).not.toContain('sk-typed')
    const received = await pasted(command, { OPENAI_API_KEY: 'sk-1', AUTHORIZATION: 'Bearer 2' })
    expect(JSON.parse(received?.body ?? '')).toEqual({
      openai_api_key: 'sk-1',
      headers: { Authorization: 'Bearer 2' },
      name: 'x',
    })
  })

  it('with fields of a form', async () => {
    const form = new FormData()
    for (const value of hostile) form.append('name', value)
    const received = await pasted(curl(post('/api/x', { form }), origin))
    for (const value of hostile) expect(received?.body).toContain(`\r\n\r\n${value}\r\n`)
  })

  it('with the caller’s key, or a word on the gateway', async () => {
    const signedIn = await pasted(curl(get('/api/x'), origin, 'session'), { AGENTSTEAD_KEY: 'k' })
    expect(signedIn?.authorization).toBe('Bearer k')
    expect(curl(get('/api/x'), origin, 'gateway')).toMatch(/ # add the header/)
  })
})

it('words of a shell are quoted only where they must be', () => {
  expect([quote('http://127.0.0.1:8080/api'), quote(''), quote("a'b")]).toEqual([
    'http://127.0.0.1:8080/api',
    "''",
    "'a'\\''b'",
  ])
})
