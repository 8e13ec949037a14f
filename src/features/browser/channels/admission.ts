import type { FastifyRequest } from 'fastify'
import type { ConnectionAccess } from '#features/access/access.feature.ts'
import type { Clock } from '#platform/clock.ts'
import { AccessDenied, AppError } from '#platform/errors.ts'
import type { LiveLinks, ValidGrant } from '../live/live-links.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import type { HeldSessions } from '../sessions/held-sessions.ts'
import { agentOfSession } from '../sessions/session-id.ts'
import type { Person } from '../takeovers/takeover.ts'
import type { Connection } from './connection.ts'
import { closeCodes } from './connection.ts'

interface Dependencies {
  access: ConnectionAccess
  links: Pick<LiveLinks, 'read'>
  held: Pick<HeldSessions, 'find'>
  clock: Clock
}

/** Who watches a session, and may drive it. */
export interface Viewer extends Person {
  /** Whether they were asked to drive, by the link of a takeover. */
  isInvited: boolean
  /** Now: rights come and go. */
  mayDrive(): boolean
}

export interface Admitted {
  session: BrowserSession
  viewer: Viewer
  /** Ends the connection when its rights end; to be called once it is open. */
  guard(connection: Connection): void
}

/** What a channel works with. */
export interface ChannelOptions extends Admitted {
  connection: Connection
  parameters: URLSearchParams
}

export interface Refused {
  code: number
  reason: string
}

/** How often to look whether rights are still there, in milliseconds. */
const lookEveryMs = 30_000

const unknown: Refused = {
  code: closeCodes.unknownSession,
  reason: 'There is no such session, or it has ended.',
}
const refused: Refused = { code: closeCodes.noAccess, reason: 'Access denied.' }

/** The parameters of a channel; clients of steel-browser add theirs with a second `?`. */
export function parametersOf({ url }: Pick<FastifyRequest, 'url'>): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('&'))
}

/** Decides who may open channels: by the token of a link, which permits one session, or by a role on its agent. */
export function createAdmission({ access, links, held, clock }: Dependencies) {
  async function admit(request: FastifyRequest): Promise<Admitted | Refused> {
    const parameters = parametersOf(request)
    const sessionId = parameters.get('sessionId') ?? ''
    const agentId = agentOfSession(sessionId)
    if (agentId === undefined) return unknown
    const token = parameters.get('token')
    const client = parameters.get('client') ?? ''
    const find = () => held.find(agentId, sessionId)
    return token === null
      ? await admitCaller(request, { agentId, client, find })
      : await admitToken(token, { sessionId, client, find })
  }

  async function admitToken(
    token: string,
    { sessionId, client, find }: { sessionId: string; client: string; find(): BrowserSession | undefined },
  ): Promise<Admitted | Refused> {
    const grant = await links.read(token, sessionId)
    if (grant === undefined || grant.right === 'replay') return refused
    const session = find()
    if (session === undefined) return unknown
    const isValid = () => grant.expiresAt > clock.now() && isOfTakeover(grant, session)
    if (!isValid()) return refused
    const viewer = {
      key: `${token} ${client}`,
      name: 'A person with the link',
      isInvited: grant.right === 'takeover',
      mayDrive: () => grant.right === 'takeover' && isValid(),
    }
    return { session, viewer, guard: connection => guardToken(connection, session, isValid) }
  }

  async function admitCaller(
    request: FastifyRequest,
    { agentId, client, find }: { agentId: string; client: string; find(): BrowserSession | undefined },
  ): Promise<Admitted | Refused> {
    const look = () => access.callerOf(request, agentId).catch(refusalOf)
    const first = await look()
    if ('code' in first) return first
    const session = find()
    if (session === undefined) return unknown
    let { isAdmin } = first
    const name = first.email ?? 'An anonymous person'
    const viewer = { key: `${name} ${client}`, name, isInvited: false, mayDrive: () => isAdmin }
    return {
      session,
      viewer,
      guard: connection =>
        guardBy(connection, agentId, async () => {
          const now = await look()
          if ('code' in now) connection.close(now.code, now.reason)
          else isAdmin = now.isAdmin
        }),
    }
  }

  function guardBy(connection: Connection, agentId: string, look: () => Promise<void>): void {
    const again = () => void look().catch(() => connection.close(1011, 'Access could not be looked up.'))
    const timer = setInterval(again, lookEveryMs).unref()
    const unwatch = access.watch(agentId, again)
    connection.onClose(() => {
      clearInterval(timer)
      unwatch()
    })
  }

  return { admit }
}

export type Admission = ReturnType<typeof createAdmission>

/** A link to a takeover permits nothing once that has ended. */
function isOfTakeover({ right, takeoverId }: ValidGrant, { takeover }: BrowserSession): boolean {
  return right === 'watch' || (takeover !== undefined && takeover.id === takeoverId)
}

function guardToken(connection: Connection, { events }: BrowserSession, isValid: () => boolean): void {
  const look = () => {
    if (!isValid()) connection.close(refused.code, 'The link is no longer valid.')
  }
  const timer = setInterval(look, 1000).unref()
  events.on('takeover.ended', look)
  connection.onClose(() => {
    clearInterval(timer)
    events.off('takeover.ended', look)
  })
}

function refusalOf(error: unknown): Refused {
  const isUnknown = error instanceof AppError && error.code === 'NOT_FOUND'
  if (isUnknown) return unknown
  if (error instanceof AccessDenied || (error instanceof AppError && error.fault === 'user')) return refused
  throw error
}
