import type { AgentOptions } from 'node:http'
import type { Dispatcher } from 'undici'
import { userAgent } from '#platform/user-agent.ts'
import { partAddress } from './address-access.ts'
import type { Body, BodyReader } from './body.ts'
import type { Reply, Send } from './send.ts'

// Imported, it would fetch `WebSocket` and the rest of undici with it, and every start would wait for them.
const { globalAgent } = process.getBuiltinModule('node:http')

/** In milliseconds. */
interface Patience {
  /** For a connection, its encryption included: a server that is there takes it at once. */
  connect: number
  /** For the other side's next word, before its answer and within it: models may think for minutes. */
  silence: number
}

const patience: Patience = { connect: 10_000, silence: 600_000 }

/**
 * Sends by undici's own interface: a question costs half of what it does by Node's client, and a piece of its answer a
 * third of what it does by `fetch`. Only for addresses that the operator has set: nothing guards it.
 */
export const sendDirectly: Send = sendDirectlyWithin(patience)

export function sendDirectlyWithin({ connect, silence }: Patience): Send {
  let agent: Promise<Dispatcher> | undefined

  /** A start asks no model, and would wait for the module. */
  async function loadAgent(): Promise<Dispatcher> {
    const { Agent, EnvHttpProxyAgent } = await import('undici')
    const options = {
      connect: { timeout: connect },
      headersTimeout: silence,
      bodyTimeout: silence,
      allowH2: false,
    }
    return goesByProxies() ? new EnvHttpProxyAgent(options) : new Agent(options)
  }

  return async (url, { headers, body, signal }) => {
    agent ??= loadAgent()
    const dispatcher = await agent
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    const { url: to, access } = partAddress(url)
    const request = {
      origin: to.origin,
      path: to.pathname + to.search,
      method: 'POST',
      headers: { 'user-agent': userAgent, ...access, ...headers },
      body,
    }
    dispatcher.dispatch(request, createExchange(signal, { resolve, reject }))
    return await promise
  }
}

/** Where `NODE_USE_ENV_PROXY` says so, Node's own clients go by the proxies that the environment names: so do questions. */
function goesByProxies(): boolean {
  const { proxyEnv } = Reflect.get(globalAgent, 'options') as AgentOptions
  return proxyEnv !== undefined
}

/** Pieces that are kept for who does not read yet; the rest waits on the other side. */
const mostKept = 16

/** What becomes of a request: its reply as soon as that begins, and its body from there on. */
function createExchange(
  signal: AbortSignal | undefined,
  { resolve, reject }: { resolve: (reply: Reply) => void; reject: (error: unknown) => void },
): Dispatcher.DispatchHandler {
  let controller: Dispatcher.DispatchController | undefined
  let reader: BodyReader | undefined
  let kept: Uint8Array[] = []
  let tellOutcome: ((reader: BodyReader) => void) | undefined

  const body: Body = {
    read(newReader) {
      reader = newReader
      for (const piece of kept) reader.piece(piece)
      kept = []
      tellOutcome?.(reader)
      controller?.resume()
    },
    leave: () => controller?.abort(new Error('The rest of the answer is not wanted.')),
  }

  /** A request that still waits for its connection is taken back as soon as it gets one. */
  function follow(): void {
    reject(signal?.reason)
    controller?.abort(signal?.reason)
  }

  function settle(outcome: (reader: BodyReader) => void): void {
    signal?.removeEventListener('abort', follow)
    tellOutcome = outcome
    if (reader) outcome(reader)
  }

  signal?.addEventListener('abort', follow, { once: true })
  return {
    onRequestStart(started) {
      controller = started
      if (signal?.aborted) started.abort(signal.reason)
    },
    onResponseStart(_controller, status, headers) {
      // What is said ahead of the answer, such as 103, is none.
      if (status >= 200) resolve({ status, headers: textsOf(headers), body })
    },
    onResponseData(_controller, piece) {
      if (reader) return reader.piece(piece)
      kept.push(piece)
      if (kept.length >= mostKept) controller?.pause()
    },
    onResponseEnd() {
      settle(reader => reader.end())
    },
    onResponseError(_controller, error) {
      reject(error)
      settle(reader => reader.fail(error))
    },
  }
}

function textsOf(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
