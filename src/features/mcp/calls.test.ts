import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import {
  type FakeMcpServer,
  fakeMcpServer,
  sendJson,
  textResult,
  toolNamed,
} from '#test/support/fake-mcp-server.ts'
import { mcpStage } from '#test/support/mcp-stage.ts'
import type { McpLimits } from './mcp-limits.ts'

const never = new AbortController().signal
const eventStream = { 'content-type': 'text/event-stream' }

async function callStage(
  limits: Partial<McpLimits> = {},
  tools = [toolNamed('say')],
  prepare: (fake: FakeMcpServer) => void = () => {},
) {
  const stage = await mcpStage({ limits })
  const fake = await fakeMcpServer(tools)
  prepare(fake)
  const { id } = await stage.service.register(stage.agent, { name: 'files', url: fake.url })
  const call = (input: Record<string, unknown> = {}, signal = never, name = 'say') =>
    stage.service.call(stage.agent, id, name, input, signal)
  return { ...stage, fake, id, call }
}

/** Answers calls by itself. */
function onCall(fake: FakeMcpServer, answer: (...parameters: Parameters<FakeMcpServer['handle']>) => void) {
  fake.handle = (request, response, message) => {
    if (message?.method !== 'tools/call') return false
    answer(request, response, message)
    return true
  }
}

describe('the answer of a tool', () => {
  it('is what a model can read, without files', async () => {
    const { fake, call } = await callStage()
    const image = Buffer.alloc(3000).toString('base64')
    fake.callTool = () => ({
      content: [
        { type: 'text', text: 'one' },
        { type: 'image', data: image, mimeType: 'image/png' },
        { type: 'audio', data: image, mimeType: 'audio/wav' },
        { type: 'text', text: 'two' },
        { type: 'resource_link', uri: 'file:///a', name: 'a' },
        { type: 'resource', resource: { uri: 'file:///b', text: 'three' } },
        { type: 'resource', resource: { uri: 'file:///c', blob: image, mimeType: 'application/pdf' } },
      ],
      structuredContent: { count: 2 },
    })
    expect(await call()).toEqual({
      text: 'one\n\ntwo\n\nthree',
      structuredContent: { count: 2 },
      attachments: [
        { type: 'image', mimeType: 'image/png', bytes: 3000 },
        { type: 'audio', mimeType: 'audio/wav', bytes: 3000 },
        { type: 'resource_link', uri: 'file:///a', name: 'a' },
        { type: 'resource', uri: 'file:///b' },
        { type: 'resource', uri: 'file:///c', mimeType: 'application/pdf', bytes: 3000 },
      ],
    })
    fake.callTool = () => ({
      content: [{ type: 'text', text: '{"count": 2}' }],
      structuredContent: { count: 2 },
    })
    expect(await call()).toEqual({ structuredContent: { count: 2 } })
    fake.callTool = () => textResult('x'.repeat(300_000))
    expect((await call()).text).toMatch(/x\n\[… 100000 characters left out …]$/)
    fake.callTool = () => ({ content: [] })
    expect(await call()).toEqual({})
  })

  it('may be an error, which is told in bounded words', async () => {
    const { fake, call } = await callStage()
    fake.callTool = () => ({ ...textResult(`No such file ${'x'.repeat(100_000)}`), isError: true })
    const error = await call().catch((reason: Error) => reason)
    expect(error).toMatchObject({ code: 'OUTBOUND_FAILED' })
    expect(String(error)).toContain('The tool "say" failed: No such file')
    expect(String(error).length).toBeLessThan(2200)
    onCall(fake, (_request, response, message) =>
      sendJson(response, { jsonrpc: '2.0', id: message?.id, error: { code: -32_602, message: 'bad words' } }),
    )
    await expect(call()).rejects.toThrow('The tool "say" failed: bad words')
  })

  it('is given up when it is larger than the limit, as JSON and as an event', async () => {
    const { fake, call } = await callStage()
    fake.callTool = () => textResult('x'.repeat(2_200_000))
    await expect(call()).rejects.toThrow('its answer is larger than an MCP server may send')
    fake.callTool = () => ({ content: [], structuredContent: { many: Array(110_000).fill({}) } })
    await expect(call()).rejects.toThrow('its answer is larger than an MCP server may send')
    onCall(fake, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const line = 'x'.repeat(100_000)
      const more = () => {
        while (!response.destroyed && response.write(line));
      }
      response.on('drain', more)
      more()
    })
    await expect(call()).rejects.toThrow('its answer is larger than an MCP server may send')
    fake.handle = () => false
    fake.callTool = () => textResult('short')
    expect(await call()).toEqual({ text: 'short' })
  })

  it.each<[string, object, unknown]>([
    [
      'an odd block',
      { result: { content: [{ type: 'json' }, { type: 'text', text: 'said' }] } },
      { text: 'said', note: expect.stringContaining('The tool "say" did run') },
    ],
    [
      'a result that is none',
      { result: 'said' },
      { structuredContent: 'said', note: expect.stringContaining('of the type string') },
    ],
    ['an error that is null', { result: textResult('said'), error: null }, { text: 'said' }],
    ['an id that became a text', { id: '', result: textResult('said') }, { text: 'said' }],
    [
      'long numbers',
      { result: { structuredContent: { id: JSON.rawJSON('1234567890123456789') } } },
      { structuredContent: { id: expect.any(Function) } },
    ],
  ])('arrives whatever else is odd in its message, as JSON and as an event: %s', async (_, members, read) => {
    const { fake, call } = await callStage()
    for (const type of ['application/json', 'text/event-stream']) {
      onCall(fake, (_request, response, message) => {
        const id = 'id' in members ? String(message?.id) : message?.id
        const json = JSON.stringify({ jsonrpc: '2.0', ...members, id })
        response.writeHead(200, { 'content-type': type })
        response.end(type === 'application/json' ? json : `data: ${json}\n\n`)
      })
      expect(await call()).toEqual(read)
    }
  })

  it.each([
    [
      'a result without anything',
      { result: null },
      'The tool "say" did run, but a part of its result was left out: the result is null.',
    ],
    ['an error without a code', { error: { message: 'E42' } }, 'E42'],
    ['an error that is a text', { error: 'E42' }, 'E42'],
    ['an error beside a null result', { result: null, error: { code: 1, message: 'E42' } }, 'E42'],
    [
      'an error with data',
      { result: { isError: true, content: [], structuredContent: { code: 'E42' } } },
      'E42',
    ],
  ])('or says what happened: %s', async (_, members, said) => {
    const { fake, call } = await callStage()
    onCall(fake, (_request, response, message) =>
      sendJson(response, { jsonrpc: '2.0', id: message?.id, ...members }),
    )
    await expect(call()).rejects.toThrow(said)
  })

  it('comes in as many pieces as the server likes', async () => {
    const { fake, call } = await callStage()
    onCall(fake, (_request, response, message) => {
      const answer = JSON.stringify({ jsonrpc: '2.0', id: message?.id, result: textResult('piece by piece') })
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const letter of `event: message\r\ndata: ${answer}\r\n\r\n`) response.write(letter)
      response.end()
    })
    expect(await call()).toEqual({ text: 'piece by piece' })
  })
})

describe('a call', () => {
  it('is checked against the schema that was agreed to', async () => {
    const { fake, call } = await callStage()
    await expect(call({ text: 7 })).rejects.toThrow('The arguments do not fit: text must be string.')
    await expect(call({}, never, 'other')).rejects.toThrow('has no tool "other"')
    expect(fake.calls).toEqual([])
  })

  it('ends with the timeout that it is given, and leaves others alone', async () => {
    const { fake, call } = await callStage({ callMs: 1_500 }, [toolNamed('say'), toolNamed('hang')])
    onCall(fake, (_request, response, message) => {
      if (message?.params.name === 'say')
        sendJson(response, { jsonrpc: '2.0', id: message.id, result: textResult('said') })
    })
    const hanging = call({}, never, 'hang')
    expect(await call()).toEqual({ text: 'said' })
    await expect(hanging).rejects.toThrow('The MCP server "files" cannot be used. It did not answer in time.')
    expect(await call()).toEqual({ text: 'said' })
  })

  it('goes on while the server tells of progress', async () => {
    const { fake, call } = await callStage({ callMs: 1_500, maxCallMs: 30_000 })
    onCall(fake, (_request, response, message) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const send = (value: object) =>
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...value })}\n\n`)
      const { progressToken } = (message?.params._meta ?? {}) as { progressToken?: unknown }
      let steps = 0
      const timer = setInterval(() => {
        steps += 1
        // Long enough in all that its patience would be over, however late the server may come with each.
        if (steps < 20)
          return send({ method: 'notifications/progress', params: { progressToken, progress: steps } })
        clearInterval(timer)
        send({ id: message?.id, result: textResult('done') })
        return response.end()
      }, 100)
    })
    expect(await call()).toEqual({ text: 'done' })
  })

  it.each<[string, (response: ServerResponse) => void]>([
    ['has not begun', () => {}],
    ['has begun', response => response.writeHead(200, { 'content-type': 'application/json' }).write('{')],
    ['is a stream', response => response.writeHead(200, eventStream).write(': wait\n\n')],
    [
      'is a stream to be resumed',
      response => response.writeHead(200, eventStream).write('id: 1\ndata: {}\n\n'),
    ],
  ])(
    'that is given up, while its answer %s, is taken back at the server, and its connection ends',
    async (_, begin) => {
      const { fake, call } = await callStage()
      const caller = new AbortController()
      const ended = new Promise<void>(resolve =>
        onCall(fake, (_request, response) => {
          response.once('close', resolve)
          begin(response)
          caller.abort(new Error('the caller has gone'))
        }),
      )
      await expect(call({}, caller.signal)).rejects.toThrow('the caller has gone')
      await ended
      const bodies = () => fake.seen.map(({ body }) => body)
      await eventually(() =>
        expect(bodies().filter(body => body.includes('notifications/cancelled'))).toHaveLength(1),
      )
      fake.handle = () => false
      expect(await call()).toEqual({ text: 'said' })
      expect(fake.seen.filter(({ headers }) => headers['last-event-id'] !== undefined)).toEqual([])
    },
  )

  it('is made again in a new session when the server has forgotten the old one', async () => {
    let live = 0
    const { fake, call } = await callStage({}, undefined, fake => {
      fake.handle = ({ headers }, response, message) => {
        if (message?.method === 'initialize') {
          live += 1
          response.setHeader('mcp-session-id', `session ${live}`)
        }
        const known = headers['mcp-session-id']
        const isForgotten = known !== undefined && known !== `session ${live}`
        if (isForgotten) response.writeHead(404).end()
        return isForgotten
      }
    })
    expect(await call()).toEqual({ text: 'said' })
    live += 1
    expect(await call()).toEqual({ text: 'said' })
    expect(fake.calls).toHaveLength(3)
  })

  it('is made again once at most', async () => {
    const { fake, call } = await callStage({}, undefined, fake => {
      fake.handle = (_request, response, message) => {
        if (message?.method === 'initialize') response.setHeader('mcp-session-id', 'never known')
        if (message?.method === 'tools/call') response.writeHead(404).end()
        return message?.method === 'tools/call'
      }
    })
    await expect(call()).rejects.toThrow('cannot be used')
    expect(fake.calls).toHaveLength(2)
  })

  it('that may have had an effect is not made again, and shows that the server is gone', async () => {
    const { fake, call, id, server } = await callStage()
    await call()
    expect(await server(id)).toMatchObject({ status: 'connected' })
    onCall(fake, (_request, response) => response.destroy())
    await expect(call()).rejects.toThrow('closed the connection early')
    expect(fake.calls).toHaveLength(2)
    expect(await server(id)).toMatchObject({ status: 'disconnected', error: expect.any(String) })
    onCall(fake, (_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': begun\n\n'),
    )
    await expect(call()).rejects.toThrow('closed the connection early')
    expect(fake.calls).toHaveLength(3)
  })

  it('is refused when the server has told that its tools have changed', async () => {
    const { fake, call } = await callStage()
    onCall(fake, (_request, response, message) => {
      fake.tools = [toolNamed('say', { description: 'Something else.' })]
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const send = (value: object) =>
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...value })}\n\n`)
      send({ method: 'notifications/tools/list_changed' })
      send({ id: message?.id, result: textResult('said') })
      response.end()
    })
    expect(await call()).toEqual({ text: 'said' })
    await expect(call()).rejects.toThrow('has changed since it was approved')
    expect(fake.calls).toHaveLength(1)
  })

  it('is refused when a new connection finds another definition', async () => {
    const { fake, call, id, service, agent } = await callStage({ idleMs: 0 })
    fake.tools = [toolNamed('say', { description: 'Something else.' })]
    await eventually(() => expect(fake.seen.at(-1)?.method).toBe('POST'))
    await eventually(async () => {
      await expect(call()).rejects.toThrow('has changed since it was approved')
    })
    const made = fake.calls.length
    await expect(call()).rejects.toThrow('has changed since it was approved')
    expect(fake.calls).toHaveLength(made)
    expect(await service.tools(agent)).toEqual([])
    expect(await service.find(agent, id, 'say')).toHaveProperty('problem')
  })

  it('asks nothing of us that only a client could give, and compiles no schema', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', pattern: '(a+)+$' } },
      $ref: 'http://x/',
    }
    const { fake, call } = await callStage({}, [toolNamed('say', { outputSchema: schema })])
    fake.callTool = () => ({ content: [], structuredContent: { a: 7 } })
    expect(await call()).toEqual({ structuredContent: { a: 7 } })
    const hello = fake.seen.map(({ body }) => body).find(body => body.includes('"initialize"'))
    expect(JSON.parse(hello ?? '{}')).toMatchObject({ params: { capabilities: {} } })
    expect(JSON.parse(hello ?? '{}').params.capabilities).toEqual({})
  })
})
