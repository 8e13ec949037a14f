import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { BrowserSession } from './browser-session.ts'
import { isOpen, type SessionStatus } from './session-status.ts'
import { endSession, renewSession } from './sessions.repository.ts'

interface Dependencies {
  leaseMs: number
  /** Stores the pending recording of the session; never rejects. */
  finishRecording(session: BrowserSession): Promise<void>
  clock: Clock
  log: Log
}

/** The copy of a profile that a session works on. */
export interface ProfileCopy {
  name: string
  /** Writes the session's changes back into the profile. */
  save(session: BrowserSession): Promise<void>
}

/** A session of this process. */
export interface HeldSession {
  session: BrowserSession
  /** The session's own handle, released at its end. */
  agent: AgentHandle
  profile: ProfileCopy | undefined
  /** Releases the browser. */
  release(): void
}

interface Entry extends HeldSession {
  renewedAt: number
  /** The stored state that other processes read: last use and status. */
  savedActivity: number
  savedStatus: SessionStatus
  savedAt: number
  /** The last save of its profile, which might still run. */
  saving: Promise<void>
  ending?: Promise<void>
}

/** Time without use after which a session ends (ms). */
const idleMs = 10 * 60_000
/** Interval between two saves of a profile (ms). */
const saveEveryMs = 5 * 60_000
/** Interval between checks for due work (ms). */
const lookEveryMs = 1000
/** Max ended sessions whose failures are remembered. */
const keptFailures = 1000
/** Max time to save a profile (ms). */
const saveMs = 10_000

export type HeldSessions = ReturnType<typeof createHeldSessions>

/** Holds the sessions of this process: ends idle ones, and renews the others in the database. */
export function createHeldSessions(dependencies: Dependencies) {
  const { clock, log } = dependencies
  const entries = new Map<string, Entry>()
  const failures = createFailures(log)
  let looking: NodeJS.Timeout | undefined

  async function finish(entry: Entry): Promise<void> {
    const { session, agent } = entry
    failures.note(session)
    if (session.status !== 'error' && !agent.signal.aborted) await save(entry, dependencies)
    await dependencies.finishRecording(session)
    await session.close()
    entries.delete(session.id)
    const ended = { status: session.status, last_activity: new Date(session.lastActivity).toISOString() }
    // The database of a deleted agent is deleted, too.
    if (!agent.signal.aborted)
      await endSession(agent.db, session.id, ended).catch(error =>
        log.warn({ err: error, agentId: agent.agentId }, 'the end of a browser session could not be stored'),
      )
    entry.release()
    agent.release()
    if (entries.size === 0) stopLooking()
  }

  function end(entry: Entry): Promise<void> {
    // Another request might end it while this one begins.
    entry.ending ??= Promise.resolve(entry).then(finish)
    return entry.ending
  }

  function look(): void {
    const now = clock.now()
    for (const entry of entries.values()) {
      if (entry.ending !== undefined) continue
      // A person can read for longer than an agent thinks.
      const isIdle = entry.session.takeover === undefined && now - entry.session.lastActivity >= idleMs
      if (isIdle) void end(entry)
      else keepUp(entry, dependencies, now)
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
      // While it was opened, its browser might have crashed, or its agent been deleted.
      if (!isOpen(session.status) || agent.signal.aborted) void end(entry)
      looking ??= setInterval(look, lookEveryMs).unref()
    },

    /** Returns undefined for a session that has ended, or is another agent's or process's. */
    find(agentId: string, id: string): BrowserSession | undefined {
      const entry = entries.get(id)
      return entry?.session.agentId === agentId && entry.ending === undefined ? entry.session : undefined
    },

    /** Stores changes of the agent's sessions after their last renewal. */
    async renewAll(agentId: string): Promise<void> {
      for (const entry of entries.values())
        if (entry.session.agentId === agentId && entry.ending === undefined && hasChanged(entry))
          await renew(entry, dependencies)
    },

    failureOf: failures.of,

    /** Ends a session, if it exists; resolves after its end. */
    async end(id: string): Promise<void> {
      const entry = entries.get(id)
      if (entry !== undefined) await end(entry)
    },

    /** Waits only for a session that is ending. */
    ended: async (id: string): Promise<void> => entries.get(id)?.ending,

    async close(): Promise<void> {
      await Promise.all(Array.from(entries.values(), end))
      stopLooking()
    },
  }
}

/** Remembers failures of this process's sessions for a while after their end. */
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

/** Waits for nothing: a slow or missing database must not keep other sessions open. */
function keepUp(entry: Entry, dependencies: Dependencies, now: number): void {
  if (now - entry.renewedAt >= dependencies.leaseMs / 3)
    renew(entry, dependencies).catch(error =>
      dependencies.log.warn(
        { err: error, agentId: entry.agent.agentId },
        'a browser session could not be renewed',
      ),
    )
  if (now - entry.savedAt < saveEveryMs) return
  entry.savedAt = now
  void save(entry, dependencies)
}

/** Saves in order: each save writes the changes after the last. */
function save(entry: Entry, dependencies: Dependencies): Promise<void> {
  entry.saving = entry.saving.then(() => saveNow(entry, dependencies))
  return entry.saving
}

/** Never rejects: a session also ends if its profile can't be saved. */
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
