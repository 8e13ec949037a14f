import { AppError } from '#platform/errors.ts'
import { orAborted } from '#platform/or-aborted.ts'
import type { Connection } from './connect.ts'

/** A connection in use: it stays open until its release, even if it is closed earlier. */
export interface HeldConnection extends Disposable {
  connection: Connection
  /** True for a reused connection, whose session the server might have forgotten. */
  isOld: boolean
  /** Gives the next caller a new connection, and closes this one after its last use. */
  retire(): void
}

export interface ConnectionLimits {
  idleMs: number
  /** Max connections of this process, and of one agent in it. */
  most: number
  maxOfAgent: number
}

interface Agent {
  agentId: string
  /** Aborted when the agent is deleted. */
  signal: AbortSignal
}

interface Entry {
  agentId: string
  opening: Promise<Connection>
  /** The connection once it is open. */
  connection?: Connection
  users: number
  idle?: NodeJS.Timeout
  /** Called when the agent is being deleted. */
  onAgentEnd(): void
  agentSignal: AbortSignal
}

/** Opens a connection, or throws the reason of `closing`, which aborts when the process ends. */
type Open = (closing: AbortSignal) => Promise<Connection>

export interface Connections {
  /** Returns the connection to a server, or opens one. Throws what `open` throws, and the signal's reason. */
  acquire(agent: Agent, serverId: string, open: Open, signal: AbortSignal): Promise<HeldConnection>
  /** Must be called after a server was removed. */
  drop(serverId: string): void
  /** Returns the number of connections, including those that are being opened. */
  count(): number
  /** Closes every connection, including those in use. */
  close(): Promise<void>
}

/**
 * The connections of this process, one to each server in use. Unused ones are closed after a while, or
 * immediately to avoid too many.
 */
export function createConnections(limits: ConnectionLimits): Connections {
  return new OpenConnections(limits)
}

class OpenConnections implements Connections {
  readonly #limits: ConnectionLimits
  /** The connections in the order of their last use, oldest first. */
  readonly #entries = new Map<string, Entry>()
  readonly #closing = new AbortController()

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  async acquire(agent: Agent, serverId: string, open: Open, signal: AbortSignal): Promise<HeldConnection> {
    this.#closing.signal.throwIfAborted()
    const entry = this.#known(serverId) ?? this.#open(agent, serverId, open)
    clearTimeout(entry.idle)
    const isOld = entry.connection !== undefined
    entry.users += 1
    let isHeld = true
    const release = () => {
      if (isHeld) this.#letGo(serverId, entry)
      isHeld = false
    }
    try {
      const connection = await orAborted(entry.opening, signal)
      const retire = () => this.#retire(serverId, entry)
      return { connection, isOld, retire, [Symbol.dispose]: release }
    } catch (error) {
      release()
      throw error
    }
  }

  drop(serverId: string): void {
    const entry = this.#entries.get(serverId)
    if (entry !== undefined) this.#retire(serverId, entry)
  }

  count(): number {
    return this.#entries.size
  }

  async close(): Promise<void> {
    this.#closing.abort(new AppError('SHUTTING_DOWN', 'The server is shutting down. Try again in a moment.'))
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.all(entries.map(end))
  }

  #known(serverId: string): Entry | undefined {
    const entry = this.#entries.get(serverId)
    if (entry === undefined) return undefined
    this.#entries.delete(serverId)
    if (entry.connection?.isClosed()) {
      if (entry.users === 0) void end(entry)
      return undefined
    }
    this.#entries.set(serverId, entry)
    return entry
  }

  #open({ agentId, signal }: Agent, serverId: string, open: Open): Entry {
    this.#makeRoom(agentId)
    const entry: Entry = {
      agentId,
      opening: open(this.#closing.signal),
      users: 0,
      agentSignal: signal,
      onAgentEnd: () => this.#retire(serverId, entry),
    }
    this.#entries.set(serverId, entry)
    signal.addEventListener('abort', entry.onAgentEnd, { once: true })
    entry.opening.then(
      connection => {
        entry.connection = connection
      },
      () => this.#retire(serverId, entry),
    )
    return entry
  }

  #makeRoom(agentId: string): void {
    const { most, maxOfAgent } = this.#limits
    const ofAgent = () => [...this.#entries.values()].filter(entry => entry.agentId === agentId).length
    const isFull = () => this.#entries.size >= most
    for (const [serverId, entry] of this.#entries) {
      if (!isFull() && ofAgent() < maxOfAgent) return
      if (entry.users === 0 && (isFull() || entry.agentId === agentId)) this.#retire(serverId, entry)
    }
    if (!isFull() && ofAgent() < maxOfAgent) return
    throw new AppError(
      'OUTBOUND_FAILED',
      'Too many connections to MCP servers are in use. Try again in a moment.',
    )
  }

  #letGo(serverId: string, entry: Entry): void {
    entry.users -= 1
    if (entry.users > 0) return
    if (this.#entries.get(serverId) !== entry) void end(entry)
    else entry.idle = setTimeout(() => this.#retire(serverId, entry), this.#limits.idleMs).unref()
  }

  /** Retires a connection; its current users may continue. */
  #retire(serverId: string, entry: Entry): void {
    if (this.#entries.get(serverId) !== entry) return
    this.#entries.delete(serverId)
    if (entry.users === 0) void end(entry)
  }
}

async function end(entry: Entry): Promise<void> {
  clearTimeout(entry.idle)
  entry.agentSignal.removeEventListener('abort', entry.onAgentEnd)
  await entry.opening.then(
    connection => connection.close(),
    () => {},
  )
}
