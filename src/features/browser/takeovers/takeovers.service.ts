import { conflict, notFound } from '#platform/errors.ts'
import type { ChangeContext } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { BrowserEvents } from '../browser.events.ts'
import type { Link, LiveLinks } from '../live/live-links.ts'
import type { BrowserSession } from '../sessions/browser-session.ts'
import type { HeldSessions } from '../sessions/held-sessions.ts'
import { isOpen } from '../sessions/session-status.ts'
import { type Ending, Takeover } from '../sessions/takeover.ts'
import { offerFiles } from './pickers.ts'
import { maxSeconds, type NewTakeover, type TakeoverRecord } from './takeovers.schema.ts'

interface Dependencies extends ChangeContext<BrowserEvents> {
  links: LiveLinks
  held: Pick<HeldSessions, 'renewAll'>
}

const usualSeconds = 300
/** Max delay of a timer (ms); a longer one would fire at once. */
const longestTimer = 2 ** 31 - 1

export interface RequestedTakeover {
  takeover: Takeover
  link: Link
}

/** Lets people drive sessions. A takeover exists in the process that holds its session, and ends with it. */
export function createTakeovers(dependencies: Dependencies) {
  const { transact, links, held, clock, ids } = dependencies
  const { end, endInTime } = createEnding(dependencies)

  /** Aborts a takeover for its requester. Does nothing if it has ended. */
  async function withdraw(session: BrowserSession, takeover: Takeover): Promise<void> {
    if (session.takeover === takeover) await end(session, { outcome: 'aborted', note: null })
  }

  return {
    /** Starts a takeover. @throws AppError CONFLICT during a takeover or after the session's end */
    async request(
      agent: AgentHandle,
      session: BrowserSession,
      { reason, timeout = usualSeconds }: NewTakeover,
      requestedBy: string,
    ): Promise<RequestedTakeover> {
      if (session.takeover !== undefined)
        throw conflict('A takeover of this session is on already. See GET takeover, or end it first.')
      if (!isOpen(session.status)) throw conflict('The browser session has ended. Open a new one.')
      const requestedAt = clock.now()
      const takeover = new Takeover({
        id: ids.record(),
        reason,
        requestedBy,
        requestedAt,
        expiresAt: requestedAt + timeout * 1000,
        notify: event => session.events.emit(event),
      })
      session.takeover = takeover
      session.status = 'takeover'
      const onEnded = () => void end(session, { outcome: 'session_ended', note: null }).catch(() => {})
      session.events.once('ended', onEnded)
      void takeover.ended.then(() => session.events.off('ended', onEnded))
      offerFiles(session, takeover)
      endInTime(session, takeover)
      session.events.emit('takeover.began', { takeoverId: takeover.id, reason })
      try {
        const link = await linkTo(links, session, takeover)
        const event = eventOf(agent, session, takeover, link.url)
        await transact(agent, (_transaction, outbox) => outbox.emit('browser.takeover_requested', event))
        await held.renewAll(session.agentId)
        return { takeover, link }
      } catch (error) {
        // The request was not announced, so no person would come.
        await withdraw(session, takeover).catch(() => {})
        throw error
      }
    },

    /** @param mayDrive true if the caller may see the link. @throws AppError NOT_FOUND */
    async get(session: BrowserSession, mayDrive: boolean): Promise<TakeoverRecord> {
      const takeover = requireTakeover(session)
      return {
        takeover_id: takeover.id,
        status: takeover.status,
        reason: takeover.reason,
        requested_by: takeover.requestedBy,
        requested_at: timeOf(takeover.requestedAt),
        expires_at: timeOf(takeover.expiresAt),
        driver: takeover.driver?.name ?? null,
        hidden: takeover.isHidden,
        takeover_url: mayDrive ? (await linkTo(links, session, takeover)).url : null,
      }
    },

    /** @throws AppError NOT_FOUND */
    async handBack(session: BrowserSession, note: string | undefined): Promise<void> {
      requireTakeover(session)
      await end(session, { outcome: 'handed_back', note: note?.trim() || null })
    },

    withdraw,

    /** Extends the time up to an hour in all, or to the requested time if that is longer. */
    extend(session: BrowserSession, seconds: number): void {
      const { takeover } = session
      if (takeover === undefined) return
      takeover.expiresAt = Math.min(takeover.expiresAt + seconds * 1000, latestOf(takeover))
      endInTime(session, takeover)
      session.events.emit('takeover.changed')
    },
  }
}

export type Takeovers = ReturnType<typeof createTakeovers>

/** Ends takeovers, by a call or when their time is over. */
function createEnding({ held, clock }: Dependencies) {
  const timers = new WeakMap<Takeover, NodeJS.Timeout>()

  /** Ends the current takeover; the agent gets the session back with the same tabs and pages. */
  async function end(session: BrowserSession, ending: Ending): Promise<void> {
    const { takeover } = session
    if (takeover === undefined) return
    // Typed text becomes known before anyone else can see the tabs again.
    if (takeover.isHidden && isOpen(session.status)) await session.readTyped()
    if (session.takeover !== takeover) return
    clearTimeout(timers.get(takeover))
    session.takeover = undefined
    if (session.status === 'takeover') session.status = 'active'
    session.touch()
    takeover.finish(ending, dialog => session.answerDialog(dialog))
    session.events.emit('takeover.ended', { takeoverId: takeover.id, ...ending })
    await held.renewAll(session.agentId)
  }

  /** Called again for each change of the time. */
  function endInTime(session: BrowserSession, takeover: Takeover): void {
    clearTimeout(timers.get(takeover))
    const expire = () => void end(session, { outcome: 'expired', note: null }).catch(() => {})
    const ms = takeover.expiresAt - clock.now()
    const isLong = ms > longestTimer
    const look = isLong ? () => endInTime(session, takeover) : expire
    timers.set(takeover, setTimeout(look, isLong ? longestTimer : ms).unref())
  }

  return { end, endInTime }
}

/** Returns the latest possible end, with any extensions by a person. */
function latestOf({ requestedAt, expiresAt }: Takeover): number {
  return Math.max(requestedAt + maxSeconds * 1000, expiresAt)
}

/** The token outlives any extension; it permits nothing once the takeover has ended. */
async function linkTo(links: LiveLinks, session: BrowserSession, takeover: Takeover): Promise<Link> {
  const grant = { sessionId: session.id, right: 'takeover', takeoverId: takeover.id } as const
  const { url } = await links.make(grant, latestOf(takeover))
  return { url, expires_at: timeOf(takeover.expiresAt) }
}

function eventOf({ agentId }: AgentHandle, session: BrowserSession, takeover: Takeover, url: string) {
  return {
    agent_id: agentId,
    session_id: session.id,
    takeover_id: takeover.id,
    reason: takeover.reason,
    requested_by: takeover.requestedBy,
    expires_at: timeOf(takeover.expiresAt),
    takeover_url: url,
  }
}

function requireTakeover(session: BrowserSession): Takeover {
  if (session.takeover === undefined) throw notFound('Takeover')
  return session.takeover
}

export function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
