import type { FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../logging/log.ts'
import type { App, LimitClass } from '../app.ts'
import {
  type CountExchange,
  createCountExchange,
  type RequestCount,
  type SharedCounts,
} from './shared-counts.ts'

/** Requests a minute for each client address; 0 turns a limit off. */
export type RateLimits = Record<Exclude<LimitClass, 'open' | 'unproven' | 'none'>, number>

const windowSeconds = 60
/** Name of the limiter for clients with limits of their own. */
const ownName = 'own'
/** Limits that are always counted by address. */
const unowned = new Set<LimitClass>(['open', 'unproven', 'none'])

/** A client's own limit, which is the same at any address. */
export interface OwnLimit {
  client: string
  /** Requests a minute. */
  points: number
}

type OwnLimitOf = (request: FastifyRequest) => OwnLimit | undefined

declare module 'fastify' {
  interface FastifyInstance {
    /** Requests with a limit of their own do not count against their address. */
    limitBy(ownLimitOf: OwnLimitOf): void
  }
  interface FastifyReply {
    /** Counts the request against a second limit, which only its body decides. Throws RATE_LIMITED. */
    countAgainst(limit: LimitClass): Promise<void>
  }
}

interface RateLimitOptions {
  rateLimits: RateLimits
  clock: Clock
  log: Log
  /** The counts of other processes; without them, this one counts alone. */
  sharedCounts?: SharedCounts | undefined
  /** False for requests that another process has counted. */
  isCounted?: ((request: FastifyRequest) => boolean) | undefined
}

interface Limiter {
  name: string
  memory: RateLimiterMemory
  /** Reports an admitted request to other processes. */
  report(client: string, expiresAt: number): void
}

/** Counts every request against the limit that its route declares; register it after CORS, which answers preflights. */
export function registerRateLimits(app: App, options: RateLimitOptions): void {
  const { rateLimits, clock, isCounted = () => true } = options
  const limiters = new Map<string, Limiter>()
  let ownLimitOf: OwnLimitOf = () => undefined
  app.decorate('limitBy', given => {
    ownLimitOf = given
  })
  app.decorateReply('countAgainst', async function countAgainst(this: FastifyReply, limit: LimitClass) {
    const limiter = limiters.get(limit)
    // A request with its own limit has counted against that one.
    if (limiter === undefined || ownLimitOf(this.request) !== undefined) return
    const taken = await take(limiter, addressLimit(limiter, this.request), clock)
    if (taken.isExceeded) throw tooMany(limiter, this, taken)
  })
  const memories = new Map(
    Object.entries({ ...rateLimits, open: rateLimits.general })
      .filter(([, points]) => points > 0)
      .map(([name, points]) => [name, new RateLimiterMemory({ points, duration: windowSeconds })]),
  )
  memories.set(ownName, new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: windowSeconds }))
  const exchange = registerExchange(app, memories, options)
  for (const [name, memory] of memories)
    limiters.set(name, {
      name,
      memory,
      report: (client, expiresAt) => exchange?.note(keyOf(name, client), expiresAt),
    })
  app.addHook('onRequest', async (request, reply) => {
    const limit = limitOf(request)
    const own = unowned.has(limit) ? undefined : ownLimitOf(request)
    const limiter = limiters.get(own === undefined ? limit : ownName)
    if (limiter !== undefined && isCounted(request))
      await count(limiter, own ?? addressLimit(limiter, request), reply, clock)
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
    // Zero seconds would mean for ever.
    if (seconds > 0) void memories.get(name)?.set(client, points, seconds)
  }
  const exchange = createCountExchange({ shared, clock, log, apply })
  app.addHook('onClose', () => exchange.close())
  return exchange
}

/** Returns the key of a count; names of limits have no space. */
function keyOf(limit: string, client: string): string {
  return `${limit} ${client}`
}

function partsOf(key: string): [limit: string, client: string] {
  const end = key.indexOf(' ')
  return [key.slice(0, end), key.slice(end + 1)]
}

function limitOf(request: FastifyRequest): LimitClass {
  // Unknown paths count as well, because guessing them would be free otherwise.
  return request.routeOptions.config.limit ?? 'general'
}

/**
 * Returns the client that a request counts against: an IPv4 address, or the /64 network of an IPv6 address,
 * whose lower half names an interface (RFC 4291, section 2.5.1): its holder can change it for every request.
 */
export function clientOf(peer: string): string {
  const address = withoutPort(peer)
  if (!ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])}/64`
}

/** Removes a port, which some proxies add by connection: `192.0.2.1:49152`, `[2001:db8::1]:49152`. */
function withoutPort(address: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(address)?.[1] ?? address.replace(/^([\d.]+):\d+$/, '$1')
}

function addressLimit({ memory: { points } }: Limiter, { ip }: FastifyRequest): OwnLimit {
  return { client: clientOf(ip), points }
}

async function count(limiter: Limiter, limit: OwnLimit, reply: FastifyReply, clock: Clock) {
  const taken = await take(limiter, limit, clock)
  reply.header('X-RateLimit-Limit', limit.points)
  reply.header('X-RateLimit-Remaining', taken.remaining)
  reply.header('X-RateLimit-Reset', Math.ceil(taken.expiresAt / 1000))
  if (taken.isExceeded) throw tooMany(limiter, reply, taken)
}

/** Takes one of the client's remaining requests, and reports it to other processes. */
async function take({ memory, report }: Limiter, { client, points }: OwnLimit, clock: Clock) {
  const state = await consume(memory, client)
  const isExceeded = state.consumedPoints > points
  const expiresAt = clock.now() + state.msBeforeNext
  if (!isExceeded) report(client, expiresAt)
  return {
    points,
    remaining: Math.max(0, points - state.consumedPoints),
    /** Milliseconds of the clock. */
    expiresAt,
    isExceeded,
    /** Seconds. */
    wait: Math.max(1, Math.ceil(state.msBeforeNext / 1000)),
  }
}

/** Advice to clients about some limits. */
const advice: Record<string, string> = {
  browser:
    ' One call with a list of `actions` counts once; RATE_LIMIT_BROWSER on the server sets the number.',
}

function tooMany({ name }: Limiter, reply: FastifyReply, { points, wait }: { points: number; wait: number }) {
  reply.header('Retry-After', wait)
  return new AppError(
    'RATE_LIMITED',
    `Too many requests: ${points} a minute are allowed. Try again in ${wait} s.${advice[name] ?? ''}`,
  )
}

async function consume(limiter: RateLimiterMemory, key: string): Promise<RateLimiterRes> {
  try {
    return await limiter.consume(key)
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return rejection
    throw rejection
  }
}
