import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { withRoom } from '#platform/disk.ts'
import { AppError, notFound } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import type { OpenAgent, StorageEngine } from './engine.ts'
import { migrate } from './migrate.ts'
import { type AgentTables, agentTables, migrationsOf, type PlatformTables } from './tables.ts'

/** One use of an agent's database, which stays open until the handle is released. */
export interface AgentHandle extends OpenAgent, Disposable {
  agentId: string
  /** Aborted when the agent is being deleted or the process ends: the holder should finish and release. */
  signal: AbortSignal
  /** Can be called more than once. */
  release(): void
}

export interface AgentDatabases {
  /** @throws AppError `NOT_FOUND` if there is no such agent or it is being deleted, `SHUTTING_DOWN` after `close`. */
  acquire(agentId: string): Promise<AgentHandle>
  /**
   * Acquires for callers who have yet to prove that they know the agent. Returns undefined if there is no
   * such agent, after as much work as that proof takes, so that no caller learns which agents exist.
   */
  acquireUnproven(agentId: string): Promise<AgentHandle | undefined>
  /** Acquires, runs `work`, releases. */
  use<Result>(agentId: string, work: (agent: AgentHandle) => Promise<Result>): Promise<Result>
  /**
   * Deletes the agent's database and files, including what a process that died here has left of them. Call it
   * after deleting the agent's row, without which the agent does not exist.
   */
  remove(agentId: string): Promise<void>
  close(): Promise<void>
}

/** Called before the database is used, when this process opens it for the first time. */
export type OnOpen = (agent: { agentId: string; db: Kysely<AgentTables> }) => Promise<void>

interface Dependencies {
  engine: StorageEngine
  /** Lists the agents. */
  platform: Kysely<PlatformTables>
  log: Log
  onOpen?: readonly OnOpen[]
  /** Max databases kept open, exceeded only while more are in use. */
  limit?: number
  /** Max time for users to release a database that is to be deleted (ms). */
  grace?: number
}

/** Time that a database waits for its users (ms): before it is deleted, and at the end of the process. */
const removalGrace = 10_000
const closingGrace = 500

/** The open databases of agents. Beyond the limit, unused ones are closed, the least recently acquired first. */
export function createAgentDatabases(dependencies: Dependencies): AgentDatabases {
  return new OpenDatabases(dependencies)
}

/** Time for which an agent is assumed to exist without a check (ms): another process can delete it. */
const confirmationMs = 5_000

interface Entry {
  opening: Promise<OpenAgent>
  /** In milliseconds, as `performance.now()`. */
  confirmedUntil: number
  users: number
  ending: AbortController
  /** Called by the last user to release the database, if a caller waits for that. */
  onUnused?: () => void
}

class OpenDatabases implements AgentDatabases {
  readonly #dependencies: Dependencies
  readonly #limit: number
  /** The open databases in the order of their last acquisition, oldest first. */
  readonly #entries = new Map<string, Entry>()
  #lastAcquired = ''
  readonly #openedBefore = new Set<string>()
  readonly #removals = new Map<string, Promise<void>>()
  /** Closings of databases that are no longer entries. */
  readonly #closings = new Map<string, Promise<unknown>>()
  #closed = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#limit = dependencies.limit ?? 64
  }

  async acquire(agentId: string): Promise<AgentHandle> {
    if (this.#closed) throw shuttingDown()
    if (this.#removals.has(agentId)) throw notFound('Agent')
    if (!this.#dependencies.engine.isExclusive) await this.#confirm(agentId)
    const entry = this.#entryOf(agentId)
    entry.users += 1
    this.#closeSurplus()
    let held = true
    const release = () => {
      if (held) this.#letGo(entry)
      held = false
    }
    try {
      return {
        ...(await entry.opening),
        agentId,
        signal: entry.ending.signal,
        release,
        [Symbol.dispose]: release,
      }
    } catch (error) {
      if (this.#entries.get(agentId) === entry) this.#entries.delete(agentId)
      release()
      throw error
    }
  }

  async acquireUnproven(agentId: string): Promise<AgentHandle | undefined> {
    const isKnown = await this.#isAgent(agentId)
    if (!isKnown) await this.#isAgent(agentId)
    return isKnown ? await this.acquire(agentId).catch(unlessNotFound) : undefined
  }

  async use<Result>(agentId: string, work: (agent: AgentHandle) => Promise<Result>): Promise<Result> {
    using agent = await this.acquire(agentId)
    return await work(agent)
  }

  remove(agentId: string): Promise<void> {
    const running = this.#removals.get(agentId)
    if (running !== undefined) return running
    const removal = this.#remove(agentId).finally(() => this.#removals.delete(agentId))
    this.#removals.set(agentId, removal)
    return removal
  }

  async close(): Promise<void> {
    this.#closed = true
    const endings = [...this.#entries.keys()].map(agentId =>
      this.#end(agentId, { grace: closingGrace, reason: shuttingDown() }),
    )
    await Promise.all([...endings, ...this.#closings.values(), ...this.#removals.values()])
  }

  #entryOf(agentId: string): Entry {
    const known = this.#entries.get(agentId)
    // Consecutive requests are mostly for the same agent, which then is already the last in the order.
    if (known !== undefined && this.#lastAcquired === agentId) return known
    this.#lastAcquired = agentId
    const entry = known ?? {
      // Opening writes to the disk even for readers, so it needs room on a full one.
      opening: withRoom(this.#dependencies.engine.disk, () => this.#open(agentId)),
      confirmedUntil: performance.now() + confirmationMs,
      users: 0,
      ending: new AbortController(),
    }
    this.#entries.delete(agentId)
    this.#entries.set(agentId, entry)
    return entry
  }

  /** Closes the database of an agent that another process has deleted. */
  async #confirm(agentId: string): Promise<void> {
    const entry = this.#entries.get(agentId)
    if (entry === undefined || performance.now() < entry.confirmedUntil) return
    entry.confirmedUntil = performance.now() + confirmationMs
    if (await this.#isAgent(agentId)) return
    this.#openedBefore.delete(agentId)
    await this.#end(agentId, { grace: 0, reason: notFound('Agent') })
  }

  async #isAgent(agentId: string): Promise<boolean> {
    return (await findAgent(this.#dependencies.platform, agentId)) !== undefined
  }

  async #open(agentId: string): Promise<OpenAgent> {
    const { engine, platform, onOpen = [] } = this.#dependencies
    const known = await findAgent(platform, agentId)
    if (known === undefined) throw notFound('Agent')
    const agent = await engine
      .openAgent(agentId, { mustExist: known.has_database === 1 })
      .catch(async error => {
        if (!engine.isExclusive) await this.#requireStillThere(agentId)
        throw error
      })
    try {
      await migrate(agent.db, migrationsOf(agentTables, engine.schema))
      // From now on, a missing database is a lost one.
      if (known.has_database === 0)
        await platform.updateTable('agents').set({ has_database: 1 }).where('id', '=', agentId).execute()
      if (!this.#openedBefore.has(agentId)) {
        for (const prepare of onOpen) await prepare({ agentId, db: agent.db })
        this.#openedBefore.add(agentId)
      }
      if (!engine.isExclusive) await this.#requireStillThere(agentId)
      return agent
    } catch (error) {
      await agent.db.destroy()
      if (!engine.isExclusive) await this.#requireStillThere(agentId)
      throw error
    }
  }

  /** Throws if another process has deleted the agent and removed its database before it was created here. */
  async #requireStillThere(agentId: string): Promise<void> {
    if (await this.#isAgent(agentId)) return
    await this.#dependencies.engine.removeAgent(agentId)
    throw notFound('Agent')
  }

  #letGo(entry: Entry): void {
    entry.users -= 1
    if (entry.users > 0) return
    entry.onUnused?.()
    this.#closeSurplus()
  }

  #closeSurplus(): void {
    for (const [agentId, entry] of this.#entries) {
      if (this.#entries.size <= this.#limit) return
      if (entry.users > 0) continue
      this.#entries.delete(agentId)
      const closing = Promise.all([this.#closings.get(agentId), destroy(entry)])
        .catch(error => this.#dependencies.log.error({ err: error, agentId }, 'closing a database failed'))
        .finally(() => this.#closings.get(agentId) === closing && this.#closings.delete(agentId))
      this.#closings.set(agentId, closing)
    }
  }

  async #remove(agentId: string): Promise<void> {
    await this.#end(agentId, { grace: this.#dependencies.grace ?? removalGrace, reason: notFound('Agent') })
    await this.#closings.get(agentId)
    this.#openedBefore.delete(agentId)
    await this.#dependencies.engine.removeAgent(agentId)
  }

  /**
   * Requests that users release the database, and closes it after the last one or when the time is up.
   * @param end.reason the message to callers who wait for a user's work.
   */
  async #end(agentId: string, { grace, reason }: { grace: number; reason: AppError }): Promise<void> {
    const entry = this.#entries.get(agentId)
    if (entry === undefined) return
    this.#entries.delete(agentId)
    entry.ending.abort(reason)
    await this.#unused(entry, grace)
    await destroy(entry)
  }

  async #unused(entry: Entry, limit: number): Promise<void> {
    if (entry.users === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    entry.onUnused = resolve
    const waiting = new AbortController()
    const grace = delay(limit, undefined, { signal: waiting.signal })
    await Promise.race([promise, grace])
    waiting.abort()
    await grace.catch(() => {})
  }
}

/** Returns undefined for an agent that does not exist. */
export function findAgent(platform: Kysely<PlatformTables>, agentId: string) {
  return platform.selectFrom('agents').select('has_database').where('id', '=', agentId).executeTakeFirst()
}

/** Ignores `NOT_FOUND`: the agent is being deleted. */
function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error
}

function shuttingDown(): AppError {
  return new AppError('SHUTTING_DOWN', 'The server is shutting down. Try again in a moment.')
}

/** Closes an entry's database, unless it never opened. */
async function destroy(entry: Entry): Promise<void> {
  const [opening] = await Promise.allSettled([entry.opening])
  if (opening.status === 'fulfilled') await opening.value.db.destroy()
}
