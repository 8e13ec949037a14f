import { isIP, type LookupFunction, type Socket } from 'node:net'
import { Agent, buildConnector, fetch } from 'undici'
import type { Resolve } from './guarded-resolver.ts'
import { decompressStrictly } from './strict-decompression.ts'

/** Max silence of the other side, before its response and within it: models can think for minutes (ms). */
const silenceMs = 600_000

const connectMs = 10_000

/** Sends single requests over connections whose address the resolver has permitted; follows no redirect. */
export interface GuardedAgent {
  send(url: URL, request: RequestInit): Promise<Response>
  /** Opens a connection for another protocol, which the caller ends. */
  connect(hostname: string, port: number): Promise<Socket>
  /** Ends every connection, also those in use, except those of `connect`. */
  close(): Promise<void>
}

/**
 * Creates an agent. Every connection calls `permitted` once and goes to an address that it returned, so no
 * second look-up can change it; the certificate is still checked against the name. Kept-alive connections
 * were checked when they were made.
 */
export function createGuardedAgent(permitted: Resolve): GuardedAgent {
  const lookup: LookupFunction = (hostname, _options, callback) => {
    permitted(hostname).then(
      addresses => callback(null, addresses),
      error => callback(error, []),
    )
  }
  const connectSocket = buildConnector({
    lookup,
    autoSelectFamily: true,
    timeout: connectMs,
    allowH2: false,
  })
  const connect: buildConnector.connector = (options, callback) => {
    // Node looks up names only: an IP address would never meet the check above.
    if (isIP(options.hostname) === 0) return connectSocket(options, callback)
    permitted(options.hostname).then(
      () => connectSocket(options, callback),
      error => callback(error, null),
    )
  }
  const agent = new Agent({ connect, headersTimeout: silenceMs, bodyTimeout: silenceMs, allowH2: false })
  const dispatcher = agent.compose(decompressStrictly)
  const guardedFetch = fetch as unknown as (url: URL, init: object) => Promise<Response>
  return {
    send: (url, request) => guardedFetch(url, { ...request, redirect: 'manual', dispatcher }),
    connect: (hostname, port) =>
      new Promise((resolve, reject) => {
        const target = { hostname, protocol: 'http:', port: String(port) }
        connect(target, (...[error, socket]) => (error ? reject(error) : resolve(socket)))
      }),
    close: () => agent.destroy(),
  }
}
