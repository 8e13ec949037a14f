import type { FastifyRequest } from 'fastify'
import type { ConnectionAccess } from '#features/access/access.feature.ts'
import type { Clock } from '#platform/clock.ts'
import { AccessDenied, AppError } from '#platform/errors.ts'
import type { LiveLinks, ValidGrant } from '../live/live-links.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import type { HeldSessions } from '../sessions/held-sessions.ts'
import { listen } from '../sessions/session-events.ts'
import { agentOfSession, parametersOf } from '../sessions/session-id.ts'
import { isOpen } from '../sessions/session-status.ts'
import type { Person } from '../sessions/takeover.ts'
import { type Connection, closeCodes } from './connection.ts'

interface Dependencies {
  access: ConnectionAccess
  links: Pick<LiveLinks, 'read'>
  held: Pick<HeldSessions, 'find'>
  clock: Clock
}

/** A person who watches a session, and may drive it. */
export interface Viewer extends Person {
  /** True if the link of a takeover permits driving. */
  isInvited: boolean
  /** Returns the current right, which can change. */
  mayDrive(): boolean
}

export interface Admitted {
  session: BrowserSession
  viewer: Viewer
  /** Closes the connection when its rights end; must be called once it is open. */
  guard(connection: Connection): void
}

/** The context of a channel. */
export interface ChannelOptions extends Admitted {
  connection: Connection
  parameters: URLSearchParams
}

export interface Refused {
  code: number
  reason: string
}

/** Interval between checks of rights (ms). */
const lookEveryMs = 30_000

const unknown: Refused = {
  code: closeCodes.unknownSession,
  reason: 'There is no such session, or it has ended.',
}
const refused: Refused = { code: closeCodes.noAccess, reason: 'Access denied.' }

/** The current rights of a caller. */
interface Rights {
  viewer: Viewer
  /** Checks the rights again; undefined while they last. */
  look(): Promise<Refused | undefined>
  /** Milliseconds since the epoch. */
  expiresAt?: number
}

/** Decides who may open channels: by a link's token for one session, or by a role on the session's agent. */
export function createAdmission({ access, links, held, clock }: Dependencies) {
  async function rightsByToken(token: string, client: string, sessionId: string): Promise<Rights | Refused> {
    const grant = await links.read(token, sessionId)
    if (grant === undefined || grant.right === 'replay') return refused
    const { right, expiresAt } = grant
    const find = () => held.find(agentOfSession(sessionId) ?? '', sessionId)
    const isValid = () => expiresAt > clock.now() && isOfTakeover(grant, find())
    const isInvited = right === 'takeover'
    const name = 'A person with the link'
    const person = { key: `${token} ${client}`, name, link: token, isInvited }
    const viewer = { ...person, mayDrive: () => isInvited && isValid() }
    return { viewer, look: async () => (isValid() ? undefined : refused), expiresAt }
  }

  function rightsByRole(request: FastifyRequest, client: string, agentId: string): Rights {
    let isAdmin = false
    const viewer = { key: '', name: 'An anonymous person', isInvited: false, mayDrive: () => isAdmin }
    return {
      viewer,
      async look() {
        try {
          const caller = await access.callerOf(request, agentId)
          isAdmin = caller.isAdmin
          viewer.name = caller.email ?? viewer.name
          // The key separates viewers from a driver of the same name, such as another anonymous person.
          viewer.key = `${isAdmin ? 'admin' : 'viewer'} ${viewer.name} ${client}`
          return undefined
        } catch (error) {
          return refusalOf(error)
        }
      },
    }
  }

  /** Closes the connection when its rights end. */
  function guard(connection: Connection, session: BrowserSession, { look, expiresAt }: Rights): void {
    const again = () =>
      void look().then(
        // If the session has ended, too, its end is the reason.
        refusal => refusal && isOpen(session.status) && connection.close(refusal.code, refusal.reason),
        () => connection.close(1011, 'Access could not be looked up.'),
      )
    const timer = setInterval(again, lookEveryMs).unref()
    const expiry = expiresAt === undefined ? undefined : setTimeout(again, expiresAt - clock.now()).unref()
    const unwatch = access.watch(session.agentId, again)
    const unlisten = listen(session.events, { 'takeover.ended': again })
    connection.onClose(() => {
      clearInterval(timer)
      clearTimeout(expiry)
      unwatch()
      unlisten()
    })
  }

  return {
    async admit(request: FastifyRequest): Promise<Admitted | Refused> {
      const parameters = parametersOf(request)
      const sessionId = parameters.get('sessionId') ?? ''
      const agentId = agentOfSession(sessionId)
      if (agentId === undefined) return unknown
      const token = parameters.get('token')
      const client = parameters.get('client') ?? ''
      const rights =
        token === null
          ? rightsByRole(request, client, agentId)
          : await rightsByToken(token, client, sessionId)
      if ('code' in rights) return rights
      const refusal = await rights.look()
      if (refusal !== undefined) return refusal
      // The session is read last: it might have ended meanwhile, which is reported once.
      const session = held.find(agentId, sessionId)
      if (session === undefined) return unknown
      return { session, viewer: rights.viewer, guard: connection => guard(connection, session, rights) }
    },
  }
}

export type Admission = ReturnType<typeof createAdmission>

/** A link to a takeover permits nothing once the takeover has ended. */
function isOfTakeover({ right, takeoverId }: ValidGrant, session: BrowserSession | undefined): boolean {
  return right === 'watch' || session?.takeover?.id === takeoverId
}

function refusalOf(error: unknown): Refused {
  if (error instanceof AppError && error.code === 'NOT_FOUND') return unknown
  if (error instanceof AccessDenied || (error instanceof AppError && error.fault === 'user')) return refused
  throw error
}
