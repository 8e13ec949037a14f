/** Requests of imported and manual tools, as a server of its own receives them through the outbound guard. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOutbound } from '#platform/outbound/outbound.ts'
import { makeOpenApiDocument } from '#test/support/openapi-document.ts'
import type { ImportedOperation } from '../openapi/imported-document.ts'
import { readOpenApi } from '../openapi/read-openapi.ts'
import { buildHttpRequest } from './build-request.ts'
import type { Credentials, HttpConfiguration } from './http-configuration.ts'

interface Received {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

const server = createServer(async (incoming, response) => {
  let body = ''
  for await (const piece of incoming.setEncoding('utf8')) body += piece
  const { method, url, headers } = incoming
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ method, url, headers, body }))
})
const outbound = createOutbound({ allow: ['127.0.0.1'], userAgent: 'test' })
let address = ''
let tools = new Map<string, ImportedOperation>()

beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { operations } = readOpenApi({ document: makeOpenApiDocument(address) })
  tools = new Map(operations.map(operation => [operation.name, operation]))
})

afterAll(async () => {
  await outbound.close()
  await new Promise(resolve => server.close(resolve))
})

async function send(
  configuration: HttpConfiguration,
  values: Record<string, unknown>,
  credentials?: Credentials,
) {
  const { url, method, headers, body, secretHeaders } = buildHttpRequest(configuration, values, credentials)
  const answer = await outbound.fetch(url, { method, headers, body, secretHeaders })
  return JSON.parse(answer.text()) as Received
}

function callOf(name: string, values: Record<string, unknown>, credentials?: Credentials) {
  const tool = tools.get(name)
  if (tool === undefined) throw new Error(`There is no tool ${name}.`)
  return send(tool.configuration, values, credentials)
}

test('all places of one call', async () => {
  const values = { petId: 7, verbose: false, query_petId: 'a b', 'X-Trace': 'é', theme: 'dark; x=y' }
  const { method, url, headers } = await callOf('getPet', values, { token: 't1' })
  expect([method, url]).toEqual(['GET', '/v1/pets/7?verbose=false&petId=a%20b'])
  expect(headers).toMatchObject({
    'x-trace': 'é',
    cookie: 'theme=dark%3B%20x%3Dy',
    authorization: 'Bearer t1',
  })
})

test('a hostile value stays one piece of the path', async () => {
  for (const petId of [
    '../../admin',
    '..%2f..%2fadmin',
    'x?y=1#z',
    '%2e%2e/',
    'a\\..\\b',
    '//evil.example.com',
  ]) {
    const { url } = await callOf('getPet', { petId })
    expect(url).toBe(`/v1/pets/${encodeURIComponent(petId)}`)
  }
  await expect(callOf('getPet', { petId: '..' })).rejects.toThrow(/petId: must not be "\." or "\.\."/)
})

test('lists, nested filters and JSON in a query; keys in query and cookie', async () => {
  const values = {
    tags: ['a', 'b&c'],
    ids: [1, 2],
    filter: { color: 'red', age: { min: 1 } },
    where: { x: [1] },
  }
  const { url, headers } = await callOf('listPets', values, { key: 'k&1', session: 's1' })
  const query = new URL(url, address).searchParams
  expect([...query]).toEqual([
    ['tags', 'a'],
    ['tags', 'b&c'],
    ['ids', '1|2'],
    ['filter[color]', 'red'],
    ['filter[age][min]', '1'],
    ['where', '{"x":[1]}'],
    ['api_key', 'k&1'],
  ])
  expect(headers.cookie).toBe('sid=s1')
})

test('bodies of all kinds', async () => {
  const pet = { name: 'rex', tag: null }
  const put = await callOf('replacePet', { petId: 1, body: pet })
  expect([put.headers['content-type'], JSON.parse(put.body)]).toEqual(['application/json', pet])
  const form = await callOf('searchPets', { body: { text: 'a&b=ü' } })
  expect([...new URLSearchParams(form.body)]).toEqual([['text', 'a&b=ü']])
  const upload = await callOf('uploadPets', { body: { note: 'n', file: 'a,b' } })
  const type = String(upload.headers['content-type'])
  const parts = await new Response(upload.body, { headers: { 'content-type': type } }).formData()
  expect(parts.get('note')).toBe('n')
  expect(parts.get('file')).toMatchObject({ name: 'file', type: 'text/csv' })
  await expect(callOf('replacePet', { petId: 1 })).rejects.toThrow(/body: is required/)
})

test('a name and password, and no credential where none is needed', async () => {
  const { headers, method } = await callOf('delete_pets_petId', { petId: 1 }, { user: 'me:secret' })
  expect([method, headers.authorization]).toEqual([
    'DELETE',
    `Basic ${Buffer.from('me:secret').toString('base64')}`,
  ])
  expect((await callOf('listPets', {})).headers.authorization).toBeUndefined()
})

test('a manual tool', async () => {
  const configuration = {
    url: `${address}/items/{id}?lang={lang}`,
    method: 'POST' as const,
    headers: '{"X-Key": "secret", "X-User": "{user}"}',
    body: '{"note": "{user} says {text}", "tags": {tags}}',
  }
  const values = { id: 'a/b', lang: 'de', user: 'me', text: '"{tags}"', tags: ['x'] }
  const { method, url, headers, body } = await send(configuration, values)
  expect([method, url]).toEqual(['POST', '/items/a%2Fb?lang=de'])
  expect(headers).toMatchObject({ 'x-key': 'secret', 'x-user': 'me', 'content-type': 'application/json' })
  expect(JSON.parse(body)).toEqual({ note: 'me says "{tags}"', tags: ['x'] })
})
