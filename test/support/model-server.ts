/** A model provider on loopback that answers what the test says, in the wire form of the provider it stands for. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RecordedRequest {
  method: string
  /** With the query. */
  path: string
  headers: IncomingMessage['headers']
  /** Parsed JSON, or the text where it is none. */
  body: unknown
}

export type Reply =
  /** A whole body, by default with status 200 as JSON. */
  | {
      status?: number
      headers?: Record<string, string | string[]>
      json?: unknown
      text?: string | Uint8Array
    }
  /** An event stream, written piece by piece. */
  | {
      stream: readonly string[] | AsyncIterable<string>
      /** The connection is destroyed after the last piece instead of ended. */
      cut?: boolean
    }

export interface ModelServer {
  /** Without a path and without a slash at the end. */
  readonly url: string
  /** Every request so far, in order. */
  readonly requests: readonly RecordedRequest[]
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a server; `respond` is asked for each request, whatever its path. */
export async function startModelServer(
  respond: (request: RecordedRequest, index: number) => Reply | Promise<Reply>,
): Promise<ModelServer> {
  const requests: RecordedRequest[] = []

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await record(incoming)
    await send(await respond(request, requests.push(request) - 1), response)
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(error => response.destroy(error))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function record(incoming: IncomingMessage): Promise<RecordedRequest> {
  let body = ''
  for await (const piece of incoming.setEncoding('utf8')) body += piece
  const { method = '', url = '', headers } = incoming
  return { method, path: url, headers, body: parsed(body) }
}

async function send(reply: Reply, response: ServerResponse): Promise<void> {
  if (!('stream' in reply)) {
    const { status = 200, headers, json, text } = reply
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(text ?? JSON.stringify(json))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  const closed = new Promise<void>(resolve => response.once('close', () => resolve()))
  for await (const piece of reply.stream) {
    await Promise.race([closed, new Promise<void>(resolve => response.write(piece, () => resolve()))])
    if (response.destroyed) return
  }
  if (reply.cut) response.destroy()
  else response.end()
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

export type WireForm = 'openai' | 'anthropic' | 'gemini'

/** Events as a provider writes them to the wire, one piece each. */
export function wireForm(form: WireForm, events: readonly unknown[]): string[] {
  return wireLines(
    form,
    events.map(event => JSON.stringify(event)),
  )
}

/** The same for events that are JSON text already, as in a recording. */
export function wireLines(form: WireForm, lines: readonly string[]): string[] {
  if (form === 'anthropic') return lines.map(line => `event: ${JSON.parse(line).type}\ndata: ${line}\n\n`)
  if (form === 'gemini') return lines.map(line => `data: ${line}\r\n\r\n`)
  return [...lines.map(line => `data: ${line}\n\n`), 'data: [DONE]\n\n']
}

/** A text as an OpenAI stream of chunks, one per piece, ended by `stop`. */
export function openaiText(...pieces: string[]): string[] {
  return wireForm('openai', [...pieces.map(content => openaiChunk({ content })), openaiChunk({}, 'stop')])
}

/** A call of one tool as an OpenAI stream, its arguments split over chunks. */
export function openaiToolCall(name: string, input: unknown, id = 'call_1'): string[] {
  const json = JSON.stringify(input)
  const half = Math.ceil(json.length / 2)
  const call = (fields: object) => openaiChunk({ tool_calls: [{ index: 0, ...fields }] })
  return wireForm('openai', [
    call({ id, type: 'function', function: { name, arguments: '' } }),
    call({ function: { arguments: json.slice(0, half) } }),
    call({ function: { arguments: json.slice(half) } }),
    openaiChunk({}, 'tool_calls'),
  ])
}

export function openaiChunk(delta: object, finishReason: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason: finishReason }]
  return { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fake', choices }
}
