import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError, conflict, required } from '#platform/errors.ts'
import type { ListParameters } from '#platform/http/lists/list-query.ts'
import type { Ids } from '#platform/ids.ts'
import { createForwardProxy } from '#platform/outbound/forward-proxy.ts'
import type { Outbound } from '#platform/outbound/outbound.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import type { ActionInput, ActionResult } from './actions/actions.schema.ts'
import type { ActionsService } from './actions/actions.service.ts'
import type { Browsers, UsedBrowser } from './chromium/browsers.ts'
import type { ProfilesService } from './profiles/profiles.service.ts'
import { deleteRecordings } from './recordings/recordings.repository.ts'
import type { Recordings } from './recordings/recordings.service.ts'
import { BrowserSession } from './sessions/browser-session.ts'
import type { HeldSessions } from './sessions/held-sessions.ts'
import { createKeptSessions } from './sessions/kept-sessions.ts'
import { heldElsewhere } from './sessions/pass-to-holder.ts'
import type { Places } from './sessions/places.ts'
import { newSessionId } from './sessions/session-id.ts'
import { isOpen } from './sessions/session-status.ts'
import {
  deleteSession,
  endLostSessions,
  findSession,
  insertSession,
  listSessions,
} from './sessions/sessions.repository.ts'
import type { NewSession, SessionRecord } from './sessions/sessions.schema.ts'
import { usualUserAgent } from './sessions/user-agent.ts'

interface Dependencies {
  browsers: Browsers
  actions: ActionsService
  held: HeldSessions
  places: Places
  profiles: ProfilesService
  recordings: Recordings
  agentDatabases: AgentDatabases
  connect: Outbound['connect']
  instanceId: string
  leaseMs: number
  /** The address at which other processes reach this one. */
  replicaUrl: string | undefined
  clock: Clock
  ids: Ids
}

const usualViewport = { width: 1280, height: 720 }

export function createBrowserService(dependencies: Dependencies) {
  const { held, agentDatabases, instanceId, clock } = dependencies
  const open = createOpening(dependencies)

  async function create({ agentId }: AgentHandle, wanted: NewSession): Promise<BrowserSession> {
    const releasePlace = dependencies.places.take(agentId)
    // The session outlives the request, so it needs its own use of the database.
    const agent = await agentDatabases.acquire(agentId)
    try {
      return await open(agent, wanted, releasePlace)
    } catch (error) {
      releasePlace()
      agent.release()
      throw error
    }
  }

  async function find(agent: AgentHandle, id: string): Promise<SessionRecord | undefined> {
    await held.renewAll(agent.agentId)
    await endLostSessions(agent.db, instanceId, timestamp(clock))
    return await findSession(agent.db, id)
  }

  const require = async (agent: AgentHandle, id: string) => required(await find(agent, id), 'Browser session')

  const kept = createKeptSessions(create, held)

  return {
    create: async (agent: AgentHandle, wanted: NewSession): Promise<SessionRecord> =>
      require(agent, (await create(agent, wanted)).id),

    async list(agent: AgentHandle, query: ListParameters) {
      await held.renewAll(agent.agentId)
      await endLostSessions(agent.db, instanceId, timestamp(clock))
      return await listSessions(agent.db, query)
    },

    get: require,

    /** Returns true if a browser of any process runs the session. */
    isOpen: async (agent: AgentHandle, id: string): Promise<boolean> =>
      isOpen((await find(agent, id))?.status ?? 'closed'),

    /** Returns the session for actions. @throws AppError NOT_FOUND, or CONFLICT if it has ended */
    async open(agent: AgentHandle, id: string): Promise<BrowserSession> {
      const session = held.find(agent.agentId, id)
      if (session !== undefined) return session
      await held.ended(id)
      const { status } = await require(agent, id)
      const why = held.failureOf(id) ?? 'Open a new one.'
      throw conflict(isOpen(status) ? heldElsewhere : `The browser session has ended (${status}). ${why}`)
    },

    /** Ends the session; it stays listed. Does nothing if it has ended. */
    async remove(agent: AgentHandle, id: string): Promise<void> {
      await require(agent, id)
      await held.end(id)
      const { status } = await require(agent, id)
      if (isOpen(status)) throw conflict(heldElsewhere)
    },

    /**
     * Runs one action in the session of `holder` (`execution:<id>`, `conversation:<id>`), which the first
     * call opens; it ends after 10 minutes without use.
     * @throws AppError like `POST browser` and `execute`.
     */
    async act(
      agent: AgentHandle,
      holder: string,
      action: ActionInput,
      { signal, profile }: { signal: AbortSignal; profile?: string },
    ): Promise<ActionResult> {
      const session = await kept.keep(agent, holder, profile)
      return await dependencies.actions.act(session, action, signal)
    },

    keep: kept.keep,

    /** Returns the session of `holder`, which might still be opening; undefined if there is none. */
    find: kept.find,

    /** Ends the session of `holder`, if there is one. */
    async release(agent: AgentHandle, holder: string): Promise<void> {
      const session = await kept.find(agent, holder)?.catch(() => undefined)
      if (session !== undefined) await held.end(session.id)
    },
  }
}

export type BrowserService = ReturnType<typeof createBrowserService>

/** Opens sessions, and stores them as open for other processes. */
function createOpening(dependencies: Dependencies) {
  const { browsers, held, profiles, recordings, connect, instanceId, leaseMs, replicaUrl, clock, ids } =
    dependencies

  async function insert({ db }: AgentHandle, record: SessionRecord): Promise<void> {
    const leaseUntil = new Date(clock.now() + leaseMs).toISOString()
    await inTransaction(db, async transaction => {
      await endLostSessions(transaction, instanceId, timestamp(clock))
      const holder = { instanceId, leaseUntil, replicaUrl }
      await deleteRecordings(transaction, await insertSession(transaction, record, holder))
    })
  }

  async function openIn(used: UsedBrowser, agent: AgentHandle, record: SessionRecord) {
    const { profile, id, viewport, user_agent: userAgent } = record
    const copy = profile === null ? undefined : await profiles.copy(agent, profile)
    const { agentId } = agent
    const proxy = await createForwardProxy({ connect, owner: agentId, reachedAs: used.reachedAs })
    try {
      const session = await BrowserSession.open({
        id,
        agentId,
        browser: used.browser,
        proxy,
        viewport,
        userAgent,
        storageState: copy?.state,
        clock,
      })
      await copy?.begin(session)
      return { session, profile: copy }
    } catch (error) {
      await proxy.close()
      throw new AppError('BROWSER_FAILED', 'The browser could not open a session. Try again.', {
        cause: error,
      })
    }
  }

  return async (
    agent: AgentHandle,
    wanted: NewSession,
    releasePlace: () => void,
  ): Promise<BrowserSession> => {
    const { headless = true, viewport = usualViewport, profile = null } = wanted
    const used = await browsers.use(agent.agentId, { headless })
    const now = timestamp(clock)
    const record: SessionRecord = {
      id: newSessionId(agent.agentId, ids),
      status: 'active',
      headless,
      viewport,
      user_agent: wanted.user_agent ?? usualUserAgent(used.browser.version()),
      profile,
      created_at: now,
      last_activity: now,
    }
    let isStored = false
    try {
      await insert(agent, record)
      isStored = true
      const opened = await openIn(used, agent, record)
      const { session } = opened
      const release = () => {
        used.release()
        releasePlace()
      }
      held.add({ ...opened, agent, release })
      if (wanted.record) await recordings.record(agent, session)
      return session
    } catch (error) {
      used.release()
      if (isStored) await deleteSession(agent.db, record.id)
      throw error
    }
  }
}
