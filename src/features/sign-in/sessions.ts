import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Identify } from '#features/access/access.feature.ts'
import { higherRoles, type PeopleService } from '#features/access/people.service.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, notFound } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import type { Ids } from '#platform/ids.ts'
import { isLoopback } from '#platform/network.ts'
import { hashOf, newToken } from './links.ts'
import { isOfOwnPage } from './own-page.ts'
import type { SignInRepository } from './sign-in.repository.ts'
import type { Admission } from './sign-in.service.ts'

const day = 24 * 60 * 60_000
const maxIdleMs = 30 * day
const maxAgeMs = 90 * day
/** Max cookies of one name that are tried. */
const maxCookies = 20
/** Precision of the time of last use. */
const useEveryMs = 60 * 60_000

interface Cookie {
  name: string
  value: string
  maxAgeSeconds: number
  sameSite: 'Strict' | 'Lax'
}

/** Cookies of this service. Their names contain `instance`: browsers send the cookies of one port to all ports of a host. */
export function createCookies(instance: string, baseUrl: string | undefined) {
  const plain = (name: string) => `agentstead-${instance}-${name}`
  const secure = (name: string) => `__Host-${plain(name)}`
  const isHttps = ({ protocol }: FastifyRequest) =>
    protocol === 'https' || baseUrl?.startsWith('https:') === true

  return {
    /** Returns all values of the cookie, because other programs of the host can set it: first those that only we can set. */
    read(request: FastifyRequest, name: string): string[][] {
      const names = isHttps(request) ? [secure(name)] : [secure(name), plain(name)]
      const pairs = (request.headers.cookie ?? '').split('; ')
      const valuesOf = (one: string) =>
        pairs.filter(pair => pair.startsWith(`${one}=`)).map(pair => pair.slice(one.length + 1))
      return names.map(one => valuesOf(one).slice(0, maxCookies))
    },

    /** The prefix keeps others from setting the cookie. Over http on this machine, Chromium accepts it (seen by its header). */
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
  people: Pick<PeopleService, 'noteProof' | 'sessionsEnded'>
  cookies: ReturnType<typeof createCookies>
  baseUrl: string | undefined
  /** Called before a session begins. */
  begins(): Promise<void>
  clock: Clock
  ids: Ids
}

/** Manages sessions of browsers, by a cookie that counts only on requests from our own pages. */
export function createSessions(dependencies: Dependencies) {
  const { repository, people, cookies, baseUrl, begins, clock, ids } = dependencies
  const cookie = { name: 'session', sameSite: 'Strict' } as const
  const until = (since: string, last: string) =>
    new Date(Math.min(Date.parse(since) + maxAgeMs, Date.parse(last) + maxIdleMs)).toISOString()

  /** Returns the first session of the cookies. Sessions of several people count as none: another program set one of them. */
  async function findFirst(groups: readonly string[][], now: string) {
    for (const tokens of groups) {
      const found = []
      for (const token of tokens) found.push(await repository.findSession(hashOf(token), now))
      const sessions = found.filter(session => session !== undefined)
      if (new Set(sessions.map(({ email }) => email)).size > 1) return undefined
      if (sessions.length > 0) return sessions.find(({ proved_by }) => proved_by !== null) ?? sessions[0]
    }
    return undefined
  }

  async function find({ caller }: FastifyRequest, groups: readonly string[][]): Promise<Caller | undefined> {
    const now = timestamp(clock)
    const found = await findFirst(groups, now)
    if (found === undefined && caller?.session === undefined) return undefined
    // The session existed when the request began.
    if (found === undefined) throw new AppError('UNAUTHORIZED', 'Your session has ended. Sign in again.')
    const { id, email, name, created_at, last_used_at, proved_by, invitedTo } = found
    if (clock.now() - Date.parse(last_used_at) > useEveryMs)
      await repository.useSession(id, { last_used_at: now, expires_at: until(created_at, now) })
    const session = { id, provedBy: proved_by, ...(proved_by === null && { invitedTo }) }
    return { user: { email, name: name ?? undefined }, via: 'session', session }
  }

  const identify: Identify = request => {
    const groups = cookies.read(request, cookie.name)
    return groups.flat().length === 0 || !isOfOwnPage(request, baseUrl) ? undefined : find(request, groups)
  }

  return {
    identify,

    async begin(
      request: FastifyRequest,
      reply: FastifyReply,
      { email, name, provedBy, invitedTo }: Admission & { name: string | null },
    ): Promise<void> {
      const { user, session } = request.caller
      // The browser keeps its session, which now reaches more.
      if (provedBy === null && session !== undefined && user?.email === email)
        return await repository.extendSession(session.id, email, higherRoles(session.invitedTo, invitedTo))
      await begins()
      if (provedBy !== null) await people.noteProof(email, provedBy)
      const token = newToken()
      const now = timestamp(clock)
      const user_agent = request.headers['user-agent']?.toWellFormed().slice(0, 300) ?? null
      const times = { created_at: now, last_used_at: now, expires_at: until(now, now) }
      const person = { email, name, user_agent, proved_by: provedBy }
      await repository.insertSession(
        { id: ids.record(), token_hash: hashOf(token), ...person, ...times },
        invitedTo,
      )
      cookies.set(request, reply, { ...cookie, value: token, maxAgeSeconds: maxAgeMs / 1000 })
    },

    list: (email: string, query: ListParameters) => repository.listSessions(email, timestamp(clock), query),

    /** Ends one session of the person, or all. @throws NOT_FOUND */
    async end(email: string, id?: string): Promise<void> {
      const removed = await repository.deleteSessions(email, id)
      if (removed.length === 0 && id !== undefined) throw notFound('Session')
      people.sessionsEnded()
    },

    /** Ends the session of the request, unless a page of another site sent it. */
    async signOut(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const { user, session } = request.caller
      if (user === undefined || session === undefined) return
      await repository.deleteSessions(user.email, session.id)
      cookies.set(request, reply, { ...cookie, value: '', maxAgeSeconds: 0 })
      people.sessionsEnded()
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>
