import type { FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../logging/log.ts'
import type { App, LimitClass } from '../app.ts'
import type { CountExchange, RequestCount, SharedCounts } from './shared-counts.ts'
import { createCountExchange } from './shared-counts.ts'

/** Requests a minute for each client address; 0 turns a limit off. */
export type RateLimits = Record<Exclude<LimitClass, 'open' | 'unproven' | 'none'>, number>

const windowSeconds = 60

declare module 'fastify' {
  interface FastifyReply {
    /** Counts the request against a limit beside that of its route, where only its body decides that. Throws RATE_LIMITED. */
    countAgainst(limit: LimitClass): Promise<void>
  }
}

interface RateLimitOptions {
  rateLimits: RateLimits
  clock: Clock
  log: Log
  /** Where there are other processes; without, this one counts alone. */
  sharedCounts?: SharedCounts | undefined
  /** False for requests that another process has counted. */
  isCounted?: ((request: FastifyRequest) => boolean) | undefined
}

interface Limiter {
  name: string
  memory: RateLimiterMemory
  /** Reports a request that was let through to other processes. */
  report(client: string, expiresAt: number): void
}

/** Counts every request against the limit that its route declares; register it after CORS, which answers preflights. */
export function registerRateLimits(app: App, options: RateLimitOptions): void {
  const { rateLimits, clock, isCounted = () => true } = options
  const limiters = new Map<string, Limiter>()
  app.decorateReply('countAgainst', async function countAgainst(this: FastifyReply, limit: LimitClass) {
    const limiter = limiters.get(limit)
    if (limiter === undefined) return
    const { isExceeded, wait } = await take(limiter, this.request, clock)
    if (isExceeded) throw tooMany(limiter, this, wait)
  })
  const memories = new Map(
    Object.entries({ ...rateLimits, open: rateLimits.general })
      .filter(([, points]) => points > 0)
      .map(([name, points]) => [name, new RateLimiterMemory({ points, duration: windowSeconds })]),
  )
  if (memories.size === 0) return
  const exchange = registerExchange(app, memories, options)
  for (const [name, memory] of memories)
    limiters.set(name, {
      ...{ name, memory },
      report: (client, expiresAt) => exchange?.note(keyOf(name, client), expiresAt),
    })
  app.addHook('onRequest', async (request, reply) => {
    const limiter = limiters.get(limitOf(request))
    if (limiter !== undefined && isCounted(request)) await count(limiter, request, reply, clock)
  })
}

function registerExchange(
  app: App,
  memories: ReadonlyMap<string, RateLimiterMemory>,
  { sharedCounts: shared, clock, log }: RateLimitOptions,
): CountExchange | undefined {
  if (shared === undefined) return undefined
  const apply = ({ key, points, expiresAt }: RequestCount) => {
    const [name, client] = partsOf(key)
    const seconds = (expiresAt - clock.now()) / 1000
    // No time left would mean for ever.
    if (seconds > 0) void memories.get(name)?.set(client, points, seconds)
  }
  const exchange = createCountExchange({ shared, clock, log, apply })
  app.addHook('onClose', () => exchange.close())
  return exchange
}

/** Limits are names without a space. */
function keyOf(limit: string, client: string): string {
  return `${limit} ${client}`
}

function partsOf(key: string): [limit: string, client: string] {
  const end = key.indexOf(' ')
  return [key.slice(0, end), key.slice(end + 1)]
}

function limitOf(request: FastifyRequest): LimitClass {
  // Unknown paths count as well, else guessing them would be free.
  return request.routeOptions.config.limit ?? 'general'
}

/**
 * Whom a request counts against: an IPv4 address, or the /64 network of an IPv6 address, since the lower half names an
 * interface (RFC 4291, section 2.5.1) and its holder could take another one for every request.
 */
export function clientOf(peer: string): string {
  const address = withoutPort(peer)
  if (!ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])}/64`
}

/** Some proxies write the port as well, which is another one for every connection: `192.0.2.1:49152`, `[2001:db8::1]:49152`. */
function withoutPort(address: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(address)?.[1] ?? address.replace(/^([\d.]+):\d+$/, '$1')
}

async function count(limiter: Limiter, request: FastifyRequest, reply: FastifyReply, clock: Clock) {
  const { remaining, expiresAt, isExceeded, wait } = await take(limiter, request, clock)
  reply.header('X-RateLimit-Limit', limiter.memory.points)
  reply.header('X-RateLimit-Remaining', remaining)
  reply.header('X-RateLimit-Reset', Math.ceil(expiresAt / 1000))
  if (isExceeded) throw tooMany(limiter, reply, wait)
}

/** Takes one request of those that the client has left, and reports it to other processes. */
async function take({ memory, report }: Limiter, request: FastifyRequest, clock: Clock) {
  const client = clientOf(request.ip)
  const { state, exceeded: isExceeded } = await consume(memory, client)
  const expiresAt = clock.now() + state.msBeforeNext
  if (!isExceeded) report(client, expiresAt)
  return {
    remaining: Math.max(0, state.remainingPoints),
    /** Milliseconds of the clock. */
    expiresAt,
    isExceeded,
    /** Seconds. */
    wait: Math.max(1, Math.ceil(state.msBeforeNext / 1000)),
  }
}

/** What a client can do about some limits. */
const advice: Record<string, string> = {
  browser:
    ' One call with a list of `actions` counts once; RATE_LIMIT_BROWSER on the server sets the number.',
}

function tooMany({ name, memory: { points } }: Limiter, reply: FastifyReply, wait: number): AppError {
  reply.header('Retry-After', wait)
  return new AppError(
    'RATE_LIMITED',
    `Too many requests: ${points} a minute are allowed. Try again in ${wait} s.${advice[name] ?? ''}`,
  )
}

async function consume(
  limiter: RateLimiterMemory,
  key: string,
): Promise<{ state: RateLimiterRes; exceeded: boolean }> {
  try {
    return { state: await limiter.consume(key), exceeded: false }
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return { state: rejection, exceeded: true }
    throw rejection
  }
}
