import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { BrowserSession } from './browser-session.ts'
import type { SessionStatus } from './session-status.ts'
import { isOpen } from './session-status.ts'
import { endSession, renewSession } from './sessions.repository.ts'

interface Dependencies {
  leaseMs: number
  /** Has what is recorded of the session stored; never rejects. */
  finishRecording(session: BrowserSession): Promise<void>
  clock: Clock
  log: Log
}

/** The copy of a profile that a session works on. */
export interface ProfileCopy {
  name: string
  /** Writes what the session has changed back into the profile. */
  save(session: BrowserSession): Promise<void>
}

/** A session that lives in this process. */
export interface HeldSession {
  session: BrowserSession
  /** Its own, which is released when it has ended. */
  agent: AgentHandle
  profile: ProfileCopy | undefined
  /** Lets go of the browser. */
  release(): void
}

interface Entry extends HeldSession {
  renewedAt: number
  /** What others know of it: when it was last used, and its status. */
  savedActivity: number
  savedStatus: SessionStatus
  savedAt: number
  /** The last saving of its profile, which may still be under way. */
  saving: Promise<void>
  ending?: Promise<void>
}

/** Milliseconds after which a session that nobody uses ends. */
const idleMs = 10 * 60_000
/** Milliseconds between two savings of a profile. */
const saveEveryMs = 5 * 60_000
/** How often to look what is due, in milliseconds. */
const lookEveryMs = 1000
/** Sessions whose failures are known after their end. */
const keptFailures = 1000
/** Milliseconds that saving a profile may take. */
const saveMs = 10_000

export type HeldSessions = ReturnType<typeof createHeldSessions>

/** The sessions of this process: ended when nobody uses them, and known to others as long as they live. */
export function createHeldSessions(needs: Dependencies) {
  const { clock, log } = needs
  const entries = new Map<string, Entry>()
  const failures = createFailures(log)
  let looking: NodeJS.Timeout | undefined

  async function finish(entry: Entry): Promise<void> {
    const { session, agent } = entry
    failures.note(session)
    if (session.status !== 'error' && !agent.signal.aborted) await save(entry, needs)
    await needs.finishRecording(session)
    await session.close()
    entries.delete(session.id)
    const ended = { status: session.status, last_activity: new Date(session.lastActivity).toISOString() }
    // The database of an agent that is being deleted goes with it.
    if (!agent.signal.aborted)
      await endSession(agent.db, session.id, ended).catch(error =>
        log.warn({ err: error, agentId: agent.agentId }, 'the end of a browser session could not be stored'),
      )
    entry.release()
    agent.release()
    if (entries.size === 0) stopLooking()
  }

  function end(entry: Entry): Promise<void> {
    // Its end may be requested once more while it begins.
    entry.ending ??= Promise.resolve(entry).then(finish)
    return entry.ending
  }

  function look(): void {
    const now = clock.now()
    for (const entry of entries.values()) {
      if (entry.ending !== undefined) continue
      // A person may read for longer than an agent thinks.
      const isIdle = entry.session.takeover === undefined && now - entry.session.lastActivity >= idleMs
      if (isIdle) void end(entry)
      else keepUp(entry, needs, now)
    }
  }

  function stopLooking(): void {
    clearInterval(looking)
    looking = undefined
  }

  return {
    add(held: HeldSession): void {
      const { session, agent } = held
      const now = clock.now()
      const saving = Promise.resolve()
      const saved = { savedActivity: now, savedStatus: session.status }
      const entry: Entry = { ...held, ...saved, renewedAt: now, savedAt: now, saving }
      entries.set(session.id, entry)
      session.events.on('ended', ({ status }) => {
        if (status === 'error') void end(entry)
      })
      agent.signal.addEventListener('abort', () => void end(entry), { once: true })
      // While it was opened, its browser may have crashed, or its agent been deleted.
      if (!isOpen(session.status) || agent.signal.aborted) void end(entry)
      looking ??= setInterval(look, lookEveryMs).unref()
    },

    /** Undefined for one that has ended, of another agent, or of another process. */
    find(agentId: string, id: string): BrowserSession | undefined {
      const entry = entries.get(id)
      return entry?.session.agentId === agentId && entry.ending === undefined ? entry.session : undefined
    },

    /** Stores what has changed since the sessions of the agent were renewed. */
    async renewAll(agentId: string): Promise<void> {
      for (const entry of entries.values())
        if (entry.session.agentId === agentId && entry.ending === undefined && hasChanged(entry))
          await renew(entry, needs)
    },

    failureOf: failures.of,

    /** Ends a session, if it is there; resolves once that is done. */
    async end(id: string): Promise<void> {
      const entry = entries.get(id)
      if (entry !== undefined) await end(entry)
    },

    /** Waits for the end of a session that is ending, for no other. */
    ended: async (id: string): Promise<void> => entries.get(id)?.ending,

    async close(): Promise<void> {
      await Promise.all(Array.from(entries.values(), end))
      stopLooking()
    },
  }
}

/** Why sessions of this process could not go on, for a while after their end. */
function createFailures(log: Log) {
  const failures = new Map<string, string>()
  return {
    note({ id, agentId, failure }: BrowserSession): void {
      if (failure === undefined) return
      log.warn({ agentId, sessionId: id, failure }, 'a browser session could not go on')
      failures.set(id, failure)
      const [oldest] = failures.size > keptFailures ? failures.keys() : []
      if (oldest !== undefined) failures.delete(oldest)
    },
    of: (id: string): string | undefined => failures.get(id),
  }
}

function hasChanged({ session, savedActivity, savedStatus }: Entry): boolean {
  return session.lastActivity !== savedActivity || session.status !== savedStatus
}

/** Waits for nothing: a database that is slow, or gone, must not keep other sessions open. */
function keepUp(entry: Entry, needs: Dependencies, now: number): void {
  if (now - entry.renewedAt >= needs.leaseMs / 3)
    renew(entry, needs).catch(error =>
      needs.log.warn({ err: error, agentId: entry.agent.agentId }, 'a browser session could not be renewed'),
    )
  if (now - entry.savedAt < saveEveryMs) return
  entry.savedAt = now
  void save(entry, needs)
}

/** One after the other: each writes what has changed since the last. */
function save(entry: Entry, needs: Dependencies): Promise<void> {
  entry.saving = entry.saving.then(() => saveNow(entry, needs))
  return entry.saving
}

/** Never rejects: a session ends also if its profile can't be saved. */
async function saveNow({ agent, profile, session }: Entry, { log }: Dependencies): Promise<void> {
  if (profile === undefined) return
  await withinTime(profile.save(session), saveMs).catch(error =>
    log.warn(
      { err: error, agentId: agent.agentId, profile: profile.name },
      'a browser profile could not be saved',
    ),
  )
}

async function renew(entry: Entry, { clock, leaseMs }: Dependencies): Promise<void> {
  const { session, agent } = entry
  entry.renewedAt = clock.now()
  entry.savedActivity = session.lastActivity
  entry.savedStatus = session.status
  await renewSession(agent.db, session.id, {
    lease_until: new Date(clock.now() + leaseMs).toISOString(),
    last_activity: new Date(session.lastActivity).toISOString(),
    status: session.status,
  })
}

async function withinTime(work: Promise<void>, limitMs: number): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`It took longer than ${limitMs} ms.`)), limitMs)
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
