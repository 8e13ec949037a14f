/** Addresses of this machine, in every spelling and by every way out: none may be connected to. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildApp, type TestApp } from '../support/build-app.ts'
import { scaled, seededRandom } from '../support/endurance.ts'

const tries = scaled(3_000)
const agent = '/api/agents/default'

let app: TestApp
/** A site that the operator allows, and that leads everybody on to the address in the query. */
let site: Server
let secret: Server
const attempted: string[] = []
const permitted = '127.0.0.2'

function watch(message: unknown): void {
  const { socket } = message as { socket: Socket }
  socket.on('connectionAttempt', (address, port) => attempted.push(`${address} ${port}`))
}

beforeAll(async () => {
  secret = createServer((_request, response) => response.end('secret')).listen(0, '127.0.0.1')
  site = createServer((request, response) => {
    const location = new URL(request.url ?? '', 'http://site').searchParams.get('to')
    if (location === null) return response.writeHead(404).end()
    // As headers hold bytes only.
    return response.writeHead(307, { location: Buffer.from(location).toString('latin1') }).end()
  }).listen(0, permitted)
  await Promise.all([once(secret, 'listening'), once(site, 'listening')])
  app = await buildApp({ environment: { OUTBOUND_ALLOW: permitted } })
  subscribe('net.client.socket', watch)
})

afterAll(async () => {
  unsubscribe('net.client.socket', watch)
  await app.close()
  secret.close()
  site.close()
})

const portOf = (server: Server) => (server.address() as AddressInfo).port

/** Spellings of addresses at which this machine itself answers. */
const hosts = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.01'],
  ...['127.0.0.1.', '127.000.000.001', '0', '0.0.0.0', '0x0', '00.0', '%31%32%37.0.0.1', '①②⑦.0.0.1'],
  ...['１２７.０.０.１', '127。0。0。1', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]'],
  ...['[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[::ffff:0:127.0.0.1]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'loc%61lhost', 'ⓛocalhost', 'local\u00adhost'],
]

type Way = (url: string) => Promise<string>

async function post(path: string, body: object): Promise<string> {
  return JSON.stringify((await app.call('POST', agent + path, { body })).body)
}

/** Makes something that has an address, uses it, and takes it away again. */
async function using(path: string, body: object, use: (item: string) => Promise<unknown>): Promise<string> {
  const made = await app.call<{ id?: string; data?: { id: string } }>('POST', agent + path, { body })
  const id = made.body.data?.id ?? made.body.id
  if (id === undefined) return JSON.stringify(made.body)
  const kind = path.replace('/crawl', '')
  const used = await use(`${kind}/${id}`)
  const removal = kind === '/sources' ? `/${id}` : `?id=${id}`
  expect(await app.call('DELETE', agent + kind + removal)).toMatchObject({ status: 200 })
  return JSON.stringify([made.body, used])
}

function tool(parts: object, given: object = {}): Promise<string> {
  const body = { name: 'out', description: 'Out', ...parts }
  return using('/tools', body, item => post(`${item}/test`, { arguments: given }))
}

function source(path: string, body: object): Promise<string> {
  return using(path, body, async item => {
    const read = async () => (await app.call<{ status: string }>('GET', agent + item)).body
    await expect.poll(async () => (await read()).status, { timeout: 60_000 }).toMatch(/ready|error/)
    return await read()
  })
}

const code = 'return fetch(args.url).then(answer => answer.text(), error => error.message)'

const ways: Record<string, Way> = {
  'a tool of type http': url => tool({ type: 'http', configuration: { url, method: 'GET' } }),
  'code of a tool': url => tool({ type: 'javascript', configuration: { code } }, { url }),
  'an MCP server': url => using('/mcp', { name: 'server', url }, async () => ''),
  'an imported document': url => post('/tools/import-openapi', { cluster: 'far', url }),
  'a crawled site': url => source('/sources/crawl', { name: 'site', url }),
  'a fetched source': url => source('/sources', { type: 'api', name: 'far', url }),
  'a page that a model reads': url => post('/chat', { content: url }),
  'an address of a model': async url => {
    const settings = { llm_provider: 'openai-compatible', llm_model: 'any', llm_base_url: url }
    const { status, body } = await app.call('PUT', `${agent}/settings`, { body: settings })
    const answer = status === 200 ? await post('/chat', { content: 'Hello' }) : JSON.stringify(body)
    await app.call('PUT', `${agent}/settings`, {
      body: { llm_provider: null, llm_model: null, llm_base_url: null },
    })
    return answer
  },
}

it(`none is connected to in ${tries} tries`, async () => {
  const random = seededRandom(7)
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value
  const port = portOf(secret)
  const told: string[] = []
  for (let number = 0; number < tries; number += 1) {
    const isRedirected = random() < 0.5
    // After a redirect, one slash would begin a path of the same site.
    const slashes = pick(isRedirected ? ['//', '\\\\'] : ['//', '\\\\', '/'])
    const target = `${pick(['http', 'HTTP', 'https'])}:${slashes}${pick(['', '', '', 'a@'])}${pick(hosts)}:${port}/`
    const redirect = `http://${permitted}:${portOf(site)}/?to=${encodeURIComponent(target)}`
    const name = pick(Object.keys(ways))
    const answer = await ways[name]?.(isRedirected ? redirect : target)
    if (answer?.includes('secret')) told.push(`${name}: ${target}`)
  }
  expect(told).toEqual([])
  expect([...new Set(attempted)]).toEqual([`${permitted} ${portOf(site)}`])
})
