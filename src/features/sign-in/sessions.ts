import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Identify } from '#features/access/access.feature.ts'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { AppError, notFound } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import type { Ids } from '#platform/ids.ts'
import { isLoopback } from '#platform/network.ts'
import { hashOf, newToken } from './links.ts'
import { isOfOwnPage } from './own-page.ts'
import type { SignInRepository } from './sign-in.repository.ts'

const day = 24 * 60 * 60_000
const maxIdleMs = 30 * day
const maxAgeMs = 90 * day
/** How exactly the last use is known. */
const useEveryMs = 60 * 60_000

interface Cookie {
  name: string
  value: string
  maxAgeSeconds: number
  sameSite: 'Strict' | 'Lax'
}

/** Cookies of this service. `instance` stands in their names, since browsers send the cookies of one port to all ports of a host. */
export function createCookies(instance: string, baseUrl: string | undefined) {
  const plain = (name: string) => `agentstead-${instance}-${name}`
  const secure = (name: string) => `__Host-${plain(name)}`
  const isHttps = ({ protocol }: FastifyRequest) =>
    protocol === 'https' || baseUrl?.startsWith('https:') === true

  return {
    read(request: FastifyRequest, name: string): string | undefined {
      const names = isHttps(request) ? [secure(name)] : [secure(name), plain(name)]
      const pairs = (request.headers.cookie ?? '').split('; ')
      const pair = names.map(one => pairs.find(it => it.startsWith(`${one}=`))).find(it => it !== undefined)
      return pair?.slice(pair.indexOf('=') + 1)
    },

    /** The prefix keeps others from setting it. Over http, on this machine, Chromium takes it, which says that it is Chromium. */
    set(
      request: FastifyRequest,
      reply: FastifyReply,
      { name, value, maxAgeSeconds, sameSite }: Cookie,
    ): void {
      const isSecure = isHttps(request) || (isLoopback(request.hostname) && 'sec-ch-ua' in request.headers)
      const start = isSecure ? `${secure(name)}=${value}; Secure` : `${plain(name)}=${value}`
      reply.header('set-cookie', `${start}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${maxAgeSeconds}`)
    },
  }
}

interface Dependencies {
  repository: SignInRepository
  cookies: ReturnType<typeof createCookies>
  baseUrl: string | undefined
  /** Called before a session begins. */
  begins(): Promise<void>
  /** Called when sessions were ended before their time. */
  ended(): void
  clock: Clock
  ids: Ids
}

/** Sessions of browsers: a cookie that counts only where a page of ours sends it. */
export function createSessions(needs: Dependencies) {
  const { repository, cookies, baseUrl, begins, ended, clock, ids } = needs
  const cookie = { name: 'session', sameSite: 'Strict' } as const
  const until = (since: string, last: string) =>
    new Date(Math.min(Date.parse(since) + maxAgeMs, Date.parse(last) + maxIdleMs)).toISOString()

  async function find({ caller }: FastifyRequest, token: string) {
    const now = timestamp(clock)
    const found = await repository.findSession(hashOf(token), now)
    if (found === undefined && caller?.session === undefined) return undefined
    // It was one when the request began.
    if (found === undefined) throw new AppError('UNAUTHORIZED', 'Your session has ended. Sign in again.')
    const { id, email, name, created_at, last_used_at } = found
    if (clock.now() - Date.parse(last_used_at) > useEveryMs)
      await repository.useSession(id, { last_used_at: now, expires_at: until(created_at, now) })
    return { user: { email, name: name ?? undefined }, via: 'session' as const, session: { id } }
  }

  const identify: Identify = request => {
    const token = cookies.read(request, cookie.name)
    return token === undefined || !isOfOwnPage(request, baseUrl) ? undefined : find(request, token)
  }

  return {
    identify,

    async begin(
      request: FastifyRequest,
      reply: FastifyReply,
      person: { email: string; name: string | null },
    ) {
      await begins()
      const token = newToken()
      const now = timestamp(clock)
      const user_agent = request.headers['user-agent']?.toWellFormed().slice(0, 300) ?? null
      const times = { created_at: now, last_used_at: now, expires_at: until(now, now) }
      await repository.insertSession({
        id: ids.record(),
        token_hash: hashOf(token),
        ...person,
        user_agent,
        ...times,
      })
      cookies.set(request, reply, { ...cookie, value: token, maxAgeSeconds: maxAgeMs / 1000 })
    },

    list: (email: string, query: ListParameters) => repository.listSessions(email, timestamp(clock), query),

    /** Ends one session of the person, or all. @throws NOT_FOUND */
    async end(email: string, id?: string): Promise<void> {
      const removed = await repository.deleteSessions(email, id)
      if (removed.length === 0 && id !== undefined) throw notFound('Session')
      ended()
    },

    /** Ends the session that the request belongs to, if it does: a page of another site can't. */
    async signOut(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const { user, session } = request.caller
      if (user === undefined || session === undefined) return
      await repository.deleteSessions(user.email, session.id)
      cookies.set(request, reply, { ...cookie, value: '', maxAgeSeconds: 0 })
      ended()
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>
