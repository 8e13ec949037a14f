/** An MCP server of the older protocol over Streamable HTTP, which a test lets misbehave. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface SeenRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

export interface Message {
  id?: unknown
  method: string
  params: Record<string, unknown>
}

/** Answers a request by itself; false where the server is to do what it does otherwise. */
type Handle = (
  request: IncomingMessage,
  response: ServerResponse,
  message: Message | undefined,
) => boolean | Promise<boolean>

export interface FakeMcpServer {
  url: string
  /** Requests in the order in which they came. */
  seen: SeenRequest[]
  /** Names of the calls that were made. */
  calls: string[]
  /** What it tells of; may be changed. */
  tools: unknown[]
  /** Asked first; may be changed. */
  handle: Handle
  /** What `tools/call` answers. */
  callTool: (params: Record<string, unknown>) => unknown
}

export const textResult = (text: string) => ({ content: [{ type: 'text', text }] })

export const toolNamed = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...more,
})

export async function fakeMcpServer(tools: unknown[] = [toolNamed('say')]): Promise<FakeMcpServer> {
  const fake: FakeMcpServer = {
    url: '',
    seen: [],
    calls: [],
    tools,
    handle: () => false,
    callTool: () => textResult('said'),
  }
  const server = createServer((request, response) => {
    void serve(fake, request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return fake
}

async function serve(fake: FakeMcpServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) body += piece
  const { method = '', url: path = '', headers } = request
  fake.seen.push({ method, path, headers, body })
  const message = method === 'POST' ? (JSON.parse(body) as Message) : undefined
  if (message?.method === 'tools/call') fake.calls.push(String(message.params.name))
  if (await fake.handle(request, response, message)) return
  if (method === 'DELETE') response.writeHead(200).end()
  else if (message === undefined) response.writeHead(405).end()
  else if (message.id === undefined) response.writeHead(202).end()
  else sendJson(response, { jsonrpc: '2.0', id: message.id, ...answerTo(fake, message) })
}

function answerTo(fake: FakeMcpServer, { method, params }: Message): object {
  switch (method) {
    case 'initialize':
      return {
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'fake', version: '1' },
        },
      }
    case 'tools/list':
      return { result: { tools: fake.tools } }
    case 'tools/call':
      return { result: fake.callTool(params) }
    default:
      return { error: { code: -32_601, message: 'Method not found' } }
  }
}

export function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
