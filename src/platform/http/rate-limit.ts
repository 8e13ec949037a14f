import type { FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Clock } from '../clock.ts'
import { AppError } from '../errors.ts'
import type { App, LimitClass } from './app.ts'

/** Requests a minute for each client address; 0 turns a limit off. */
export type RateLimits = Record<Exclude<LimitClass, 'none'>, number>

const windowSeconds = 60

/** Counts every request against the limit that its route declares; register it after CORS, which answers preflights. */
export function registerRateLimits(app: App, limits: RateLimits, clock: Clock): void {
  const limiters = Object.fromEntries(
    Object.entries(limits)
      .filter(([, points]) => points > 0)
      .map(([name, points]) => [name, new RateLimiterMemory({ points, duration: windowSeconds })]),
  )
  if (Object.keys(limiters).length === 0) return
  app.addHook('onRequest', async (request, reply) => {
    const limiter = limiters[limitOf(request)]
    if (limiter !== undefined) await count(limiter, request, reply, clock)
  })
}

function limitOf(request: FastifyRequest): LimitClass {
  // Unknown paths count as well, else guessing them would be free.
  return request.routeOptions.config.limit ?? 'general'
}

/**
 * Whom a request counts against: an IPv4 address, or the /64 network of an IPv6 address, since the lower half names an
 * interface (RFC 4291, section 2.5.1) and its holder could take another one for every request.
 */
export function clientOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0])}/64`
}

async function count(limiter: RateLimiterMemory, request: FastifyRequest, reply: FastifyReply, clock: Clock) {
  const { state, exceeded } = await consume(limiter, clientOf(request.ip))
  const resetSeconds = Math.ceil((clock.now() + state.msBeforeNext) / 1000)
  reply.header('X-RateLimit-Limit', limiter.points)
  reply.header('X-RateLimit-Remaining', Math.max(0, state.remainingPoints))
  reply.header('X-RateLimit-Reset', resetSeconds)
  if (!exceeded) return
  const wait = Math.max(1, Math.ceil(state.msBeforeNext / 1000))
  reply.header('Retry-After', wait)
  throw new AppError(
    'RATE_LIMITED',
    `Too many requests: ${limiter.points} a minute are allowed. Try again in ${wait} s.`,
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
