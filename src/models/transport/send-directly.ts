import type { AgentOptions } from 'node:http'
import type { Dispatcher } from 'undici'
import { userAgent } from '#platform/user-agent.ts'
import { partAddress } from './address-access.ts'
import type { Body, BodyReader } from './body.ts'
import type { Reply, Send } from './send.ts'

// A static import would load `WebSocket` and the rest of undici, and delay every start.
const { globalAgent } = process.getBuiltinModule('node:http')

/** Timeouts in milliseconds. */
interface Timeouts {
  /** Max time for a connection including TLS: a reachable server accepts it at once. */
  connect: number
  /** Max time without data from the server, before and during its answer: models can think for minutes. */
  silence: number
}

const timeout: Timeouts = { connect: 10_000, silence: 600_000 }

/**
 * Sends through undici's own interface: a question takes half as long as with Node's client, a piece of its
 * answer a third as long as with `fetch`. Only for the operator's addresses: there is no outbound guard.
 */
export const sendDirectly: Send = sendDirectlyWithin(timeout)

export function sendDirectlyWithin({ connect, silence }: Timeouts): Send {
  let agent: Promise<Dispatcher> | undefined

  /** Loads the agent on first use: no model is called at startup, which would wait for the module. */
  async function loadAgent(): Promise<Dispatcher> {
    const options = {
      connect: { timeout: connect },
      headersTimeout: silence,
      bodyTimeout: silence,
      allowH2: false,
    }
    const { Agent, EnvHttpProxyAgent } = await import('undici')
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

/** True if `NODE_USE_ENV_PROXY` is set: then the environment's proxies are used, like Node's clients do. */
function goesByProxies(): boolean {
  const { proxyEnv } = Reflect.get(globalAgent, 'options') as AgentOptions
  return proxyEnv !== undefined
}

/** Max pieces in memory until they are read; the rest waits on the server. */
const maxKept = 16

/** The outcome of a request: its reply as soon as that begins, then its body. */
function createExchange(
  signal: AbortSignal | undefined,
  { resolve, reject }: { resolve: (reply: Reply) => void; reject: (error: unknown) => void },
): Dispatcher.DispatchHandler {
  let controller: Dispatcher.DispatchController | undefined
  let reader: BodyReader | undefined
  let keptPieces: Uint8Array[] = []
  let settleOutcome: ((reader: BodyReader) => void) | undefined

  const body: Body = {
    read(newReader) {
      reader = newReader
      for (const piece of keptPieces) reader.piece(piece)
      keptPieces = []
      settleOutcome?.(reader)
      controller?.resume()
    },
    leave: () => controller?.abort(new Error('The rest of the answer is not wanted.')),
  }

  /** Cancels a request that is still waiting for its connection as soon as it gets one. */
  function follow(): void {
    reject(signal?.reason)
    controller?.abort(signal?.reason)
  }

  function settle(outcome: (reader: BodyReader) => void): void {
    signal?.removeEventListener('abort', follow)
    settleOutcome = outcome
    if (reader) outcome(reader)
  }

  signal?.addEventListener('abort', follow, { once: true })
  return {
    onRequestStart(started) {
      controller = started
      if (signal?.aborted) started.abort(signal.reason)
    },
    onResponseStart(_controller, status, headers) {
      // An informational response, such as 103, is not the answer.
      if (status >= 200) resolve({ status, headers: textsOf(headers), body })
    },
    onResponseData(_controller, piece) {
      if (reader) return reader.piece(piece)
      keptPieces.push(piece)
      if (keptPieces.length >= maxKept) controller?.pause()
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
