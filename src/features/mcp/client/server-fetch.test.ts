import { describe, expect, it } from 'vitest'
import { createServerFetch } from './server-fetch.ts'

const bounds = { maxAnswerBytes: 100, maxEventBytes: 50, maxStreamBytes: 100, maxValues: 20 }

function fetchWith(answer: () => Response, opensOneStream = false) {
  const sent: { url: string; headers: Headers; redirect: unknown }[] = []
  const lifetime = new AbortController()
  const way = createServerFetch({
    server: { url: new URL('https://mcp.example.com/mcp'), token: 'tok-1' },
    bounds,
    signal: lifetime.signal,
    opensOneStream,
    async outboundFetch(input, init) {
      init?.signal?.throwIfAborted()
      sent.push({ url: String(input), headers: new Headers(init?.headers), redirect: init?.redirect })
      return answer()
    },
  })
  return { ...way, sent, end: () => lifetime.abort(new Error('ended')) }
}

const events = (text: string) =>
  new Response(text, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
const post = { method: 'POST', body: '{"jsonrpc":"2.0","id":7,"method":"tools/call"}' }

describe('the way to a server', () => {
  it('leads to its origin alone, with its token, and follows nothing', async () => {
    const redirect = () => new Response('moved', { status: 307, headers: { location: 'https://b.example/' } })
    const { fetch, sent } = fetchWith(redirect)
    const response = await fetch('https://mcp.example.com/other', { headers: { authorization: 'Bearer x' } })
    expect({ status: response.status, body: response.body }).toEqual({ status: 307, body: null })
    expect(sent).toMatchObject([{ url: 'https://mcp.example.com/other', redirect: 'manual' }])
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer tok-1')
    for (const url of [
      'http://mcp.example.com/mcp',
      'https://mcp.example.com:8443/mcp',
      'https://mcp.example.com.evil.example/mcp',
      'https://evil.example/.well-known/oauth-protected-resource',
    ])
      await expect(fetch(url)).rejects.toThrow('names another server')
    expect(sent).toHaveLength(1)
  })

  it('bounds what comes back', async () => {
    const { fetch } = fetchWith(() => new Response('x'.repeat(101)))
    await expect(fetch('https://mcp.example.com/mcp', post)).rejects.toThrow('larger')
    const dense = fetchWith(() => new Response('[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3]'))
    await expect(dense.fetch('https://mcp.example.com/mcp', post)).rejects.toThrow('larger')
    const failed = fetchWith(() => new Response('x'.repeat(100_000), { status: 500 }))
    expect(await (await failed.fetch('https://mcp.example.com/mcp', post)).text()).toBe('')
  })

  it('settles a request whose stream ends without an answer, unless it can be resumed', async () => {
    const error = (message: string) =>
      `data: {"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"The request to mcp.example.com failed: ${message}."}}\n\n`
    const read = async (text: string, init: RequestInit = post) =>
      (await fetchWith(() => events(text)).fetch('https://mcp.example.com/mcp', init)).text()
    expect(await read('data: a\n\n')).toBe(`data: a\n\n${error('it closed the connection early')}`)
    expect(await read('id: 1\ndata: a\n\n')).toBe('id: 1\ndata: a\n\n')
    expect(await read('x'.repeat(60))).toBe(error('its answer is larger than an MCP server may send'))
    expect(await read('data: a\n\n', { method: 'GET' })).toBe('data: a\n\n')
  })

  it('opens no second stream where one is enough', async () => {
    const { fetch, sent } = fetchWith(() => events(''), true)
    await fetch('https://mcp.example.com/sse')
    expect((await fetch('https://mcp.example.com/sse')).status).toBe(204)
    expect(sent).toHaveLength(1)
  })

  it('is closed with its connection, and keeps what was noticed', async () => {
    const { fetch, end, observations } = fetchWith(
      () =>
        new Response('no', { status: 401, headers: { 'www-authenticate': 'Bearer resource_metadata="x"' } }),
    )
    await fetch('https://mcp.example.com/mcp', post)
    expect(observations).toEqual({ refusal: { status: 401, wantsOauth: true } })
    end()
    await expect(fetch('https://mcp.example.com/mcp', post)).rejects.toThrow('ended')
  })
})
