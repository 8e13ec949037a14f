import { randomBytes } from 'node:crypto'
import {
  Agent,
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http'
import { type AddressInfo, isIPv6, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Duplex } from 'node:stream'
import { currentOwner } from '../current-owner.ts'
import { isEqual } from '../http/requests/inbound-webhook.ts'
import { type Endable, runOwned } from '../uncaught-errors.ts'
import type { Outbound } from './outbound.ts'
import { toOutboundError } from './outbound-failure.ts'

/** The reason why a host was not reached: the guard refused it, or it failed by itself. */
export interface Unreachable {
  host: string
  kind: 'refused' | 'failed'
  /** A sentence for the caller. */
  message: string
}

/** A proxy of HTTP/1.1 for one user, on a port of its own. */
export interface ForwardProxy {
  /** Address for a browser: `http://127.0.0.1:PORT`. */
  address: string
  /** Credentials, without which it answers 407; only set if other machines can reach it. */
  credentials: ProxyCredentials | undefined
  /** Returns the last failure to reach the host (with its port if unusual); undefined if it was reached. */
  unreachable(host: string): Unreachable | undefined
  /** Ends every connection. */
  close(): Promise<void>
}

export interface ProxyCredentials {
  username: string
  password: string
}

interface Target {
  host: string
  port: number
}

interface Options {
  connect: Outbound['connect']
  /** The agent whose pages use the proxy. */
  owner: string
  /** The name or address of this machine for a browser on another one; defaults to loopback alone. */
  reachedAs?: string | undefined
}

/** The response header by which the guard marks its own responses; `refused` or `failed`. */
export const guardHeader = 'x-guard'

/** Max bytes of headers: cookies of some sites are larger than Node's default. */
const maxHeaderSize = 256 * 1024

/** Max idle time (ms): longer than browsers keep unused connections, so none is closed during a request. */
const idleMs = 310_000

const loopback = '127.0.0.1'

const challenge = 'Basic realm="browser session"'

/** Max hosts that are remembered as not reached. */
const remembered = 200

/** Headers about one connection, which are not passed on. */
const ofConnection = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * Listens until it is closed. Every connection that it makes is one of the guard's: its name is looked up
 * once, and it connects to a permitted address.
 */
export async function createForwardProxy({ connect, owner, reachedAs }: Options): Promise<ForwardProxy> {
  const credentials = reachedAs === undefined ? undefined : newCredentials()
  const failures = new Map<string, Unreachable>()
  const sockets = new Set<Duplex>()
  let isClosed = false

  /** Connects to a host. Its name has no port if that is the usual one of the scheme. */
  async function reach(hostname: string, port: number, host: string): Promise<Socket> {
    failures.delete(host)
    try {
      const { socket } = await currentOwner.run(owner, () => connect(bare(hostname), port))
      if (isClosed) socket.destroy()
      return kept(socket, sockets)
    } catch (error) {
      if (failures.size >= remembered) failures.clear()
      failures.set(host, asUnreachable(error, host))
      throw error
    }
  }

  const upstream = new Agent({ keepAlive: true, maxSockets: 32 })
  upstream.createConnection = (({ host, port }: Target, done: (error: unknown, socket?: Duplex) => void) => {
    reach(host, port, hostOf(host, port, 80)).then(socket => done(null, socket), done)
  }) as unknown as Agent['createConnection']

  const server = createServer({ maxHeaderSize, requestTimeout: 0, keepAliveTimeout: idleMs }, (from, to) => {
    if (isPermitted(from, credentials)) runOwned(connection(from.socket), () => forward(from, to, upstream))
    else to.writeHead(407, { 'proxy-authenticate': challenge }).end()
  })
  server.on('connection', socket => kept(socket, sockets))
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => client.destroy())
    if (!isPermitted(request, credentials))
      client.end(
        `HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: ${challenge}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
      )
    else void runOwned(connection(client), () => tunnel(request.url ?? '', client, head, reach))
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ port: 0, host: listeningAddress(reachedAs) }, resolve)
  })
  const { port } = server.address() as AddressInfo
  const host = reachedAs ?? loopback
  return {
    address: `http://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    credentials,
    unreachable: host => failures.get(host),
    close: () =>
      new Promise(resolve => {
        isClosed = true
        server.close(() => resolve())
        upstream.destroy()
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function connection(socket: Duplex): Endable {
  return { name: 'a connection of the forward proxy', end: () => socket.destroy() }
}

/** Returns undefined for all addresses of this machine. */
function listeningAddress(reachedAs: string | undefined): string | undefined {
  if (reachedAs === undefined) return loopback
  const own = Object.values(networkInterfaces()).flatMap(addresses => addresses ?? [])
  return own.find(({ address }) => address === reachedAs)?.address
}

function newCredentials(): ProxyCredentials {
  return { username: 'session', password: randomBytes(16).toString('base64url') }
}

function isPermitted({ headers }: IncomingMessage, credentials: ProxyCredentials | undefined): boolean {
  if (credentials === undefined) return true
  const { username, password } = credentials
  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return isEqual(headers['proxy-authorization'] ?? '', expected)
}

/** Passes on a request for an `http:` address, and its response back. */
function forward(from: IncomingMessage, to: ServerResponse, agent: Agent): void {
  const url = URL.parse(from.url ?? '')
  if (url?.protocol !== 'http:') {
    to.writeHead(400).end()
    return
  }
  const onward = sendRequest({
    agent,
    host: url.hostname,
    port: Number(url.port || 80),
    path: `${url.pathname}${url.search}`,
    method: from.method ?? 'GET',
    headers: onwardHeaders(from.rawHeaders),
    setHost: false,
    maxHeaderSize,
  })
  onward.on('response', back => {
    try {
      sendBack(back, to)
    } catch (error) {
      // Node reads responses, such as of the status 042, that it refuses to send.
      refuse(to, asUnreachable(error, url.host))
      onward.destroy()
    }
  })
  onward.on('error', (error: NodeJS.ErrnoException) => {
    // The other end has closed a connection that was open for another request.
    const isLate = onward.reusedSocket && error.code === 'ECONNRESET' && !hasBody(from) && !to.headersSent
    if (isLate && !to.destroyed) forward(from, to, agent)
    else refuse(to, asUnreachable(error, url.host))
  })
  to.on('close', () => onward.destroy())
  if (hasBody(from)) from.pipe(onward)
  else onward.end()
}

function hasBody({ headers }: IncomingMessage): boolean {
  return 'content-length' in headers || 'transfer-encoding' in headers
}

function sendBack(back: IncomingMessage, to: ServerResponse): void {
  to.writeHead(back.statusCode ?? 502, onwardHeaders(back.rawHeaders))
  back.pipe(to)
  // A broken response must not look complete.
  back.on('error', () => to.destroy())
}

function refuse(to: ServerResponse, { kind, message }: Unreachable): void {
  const headers = { [guardHeader]: kind, 'content-type': 'text/plain; charset=utf-8' }
  if (to.headersSent) to.destroy()
  else to.writeHead(kind === 'refused' ? 403 : 502, headers).end(message)
}

/** Connects the client to the host and port that it named, for a protocol that is not read here. */
async function tunnel(
  target: string,
  client: Duplex,
  head: Buffer,
  reach: (hostname: string, port: number, host: string) => Promise<Socket>,
): Promise<void> {
  const { hostname = '', port } = URL.parse(`http://${target}`) ?? {}
  const host = hostOf(hostname, Number(port || 80), 443)
  try {
    const socket = await reach(hostname, Number(port || 80), host)
    if (client.destroyed) {
      socket.destroy()
      return
    }
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    socket.write(head)
    socket.pipe(client).pipe(socket)
    socket.on('close', () => client.destroy())
    client.on('close', () => socket.destroy())
  } catch (error) {
    const { kind } = asUnreachable(error, host)
    const status = kind === 'refused' ? '403 Forbidden' : '502 Bad Gateway'
    client.end(`HTTP/1.1 ${status}\r\n${guardHeader}: ${kind}\r\ncontent-length: 0\r\n\r\n`)
  }
}

/** Returns the headers in their order and letter case, as pairs in one list. */
function onwardHeaders(raw: readonly string[]): string[] {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []))
  const named = pairs
    .filter(([name]) => name?.toLowerCase() === 'connection')
    .flatMap(([, value]) => (value ?? '').toLowerCase().split(/\s*,\s*/))
  const dropped = new Set([...ofConnection, ...named, guardHeader])
  return pairs.filter(([name]) => !dropped.has(name?.toLowerCase() ?? '')).flat()
}

function asUnreachable(error: unknown, host: string): Unreachable {
  const { code, message } = toOutboundError(error, host)
  return { host, kind: code === 'OUTBOUND_REFUSED' ? 'refused' : 'failed', message }
}

/** Registers a socket, which is closed with the proxy, and on errors. */
function kept<Kept extends Duplex>(socket: Kept, sockets: Set<Duplex>): Kept {
  sockets.add(socket)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => sockets.delete(socket))
  return socket
}

function hostOf(hostname: string, port: number, usual: number): string {
  return port === usual ? hostname : `${hostname}:${port}`
}

/** Removes the brackets of an IPv6 address, which only URLs have. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}
