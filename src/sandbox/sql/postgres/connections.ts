/**
 * The connections on which agents' SQL runs: few, each with one agent's role, kept for some seconds. Separate from the
 * service's own connections, so that statements cannot keep it from its work.
 */
import type { ClientConfig } from 'pg'
import pg from 'pg'
import { createFairSlots, type FairSlots } from '#platform/workers/fair-slots.ts'
import { SqlBusy } from '../sql-busy.ts'

interface Options {
  /** Max connections of this process. */
  most: number
  /** Max connections of a role in this process. */
  maxOfRole: number
  /** Time after which an idle one is closed (ms). */
  idle: number
  /** Max wait of a statement for one (ms). */
  timeout: number
}

export interface Login {
  /** Address of the database; its user is ignored. */
  url: string
  role: string
  password: string
}

export interface Lease {
  client: pg.Client
  /** Returns the connection; `broken` if it must not be reused. */
  release(broken: boolean): void
}

export interface Connections {
  /** @throws `SqlBusy` if all are in use for too long, and errors of connecting. */
  take(login: Login, signals: readonly AbortSignal[]): Promise<Lease>
  /** Closes this role's idle connections. */
  forget(role: string): void
  close(): Promise<void>
}

interface Idle {
  client: pg.Client
  role: string
  timer: NodeJS.Timeout
}

const connectTimeout = 5_000

export function createConnections(options: Partial<Options> = {}): Connections {
  return new RoleConnections({ most: 6, maxOfRole: 2, idle: 5_000, timeout: 10_000, ...options })
}

class RoleConnections implements Connections {
  readonly #options: Options
  /** Idle connections, the least recently used first. */
  readonly #idle = new Set<Idle>()
  readonly #all = new Set<pg.Client>()
  readonly #slots: FairSlots

  constructor(options: Options) {
    this.#options = options
    this.#slots = createFairSlots(options.most, options.maxOfRole)
  }

  async take(login: Login, signals: readonly AbortSignal[]): Promise<Lease> {
    const leave = await this.#takeSlot(login.role, signals)
    try {
      const client = this.#reuse(login.role) ?? (await this.#connect(login))
      const release = (broken: boolean) => {
        this.#release(login.role, client, broken)
        leave()
      }
      return { client, release }
    } catch (error) {
      leave()
      throw error
    }
  }

  forget(role: string): void {
    for (const idle of this.#idle) if (idle.role === role) this.#close(idle)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map(end))
  }

  async #takeSlot(role: string, signals: readonly AbortSignal[]): Promise<() => void> {
    const patient = new AbortController()
    const giveUp = setTimeout(() => patient.abort(new SqlBusy()), this.#options.timeout)
    try {
      return await this.#slots.take(role, AbortSignal.any([patient.signal, ...signals]))
    } finally {
      clearTimeout(giveUp)
    }
  }

  #reuse(role: string): pg.Client | undefined {
    const idle = [...this.#idle].findLast(one => one.role === role)
    if (idle === undefined) return undefined
    clearTimeout(idle.timer)
    this.#idle.delete(idle)
    return idle.client
  }

  async #connect({ url, role, password }: Login): Promise<pg.Client> {
    const [oldest] = this.#idle
    if (oldest !== undefined && this.#all.size >= this.#options.most) this.#close(oldest)
    const client = new pg.Client({
      ...addressOf({ url, role, password }),
      connectionTimeoutMillis: connectTimeout,
    })
    // The statement reports the error to its user.
    client.on('error', () => {})
    try {
      await client.connect()
    } catch (error) {
      void end(client)
      throw error
    }
    this.#all.add(client)
    client.once('end', () => this.#lose(client))
    return client
  }

  #lose(client: pg.Client): void {
    this.#all.delete(client)
    for (const idle of this.#idle) if (idle.client === client) this.#close(idle)
  }

  #release(role: string, client: pg.Client, broken: boolean): void {
    if (broken) {
      void end(client)
      return
    }
    const idle = {
      client,
      role,
      timer: setTimeout(() => this.#close(idle), this.#options.idle).unref(),
    }
    this.#idle.add(idle)
  }

  #close(idle: Idle): void {
    clearTimeout(idle.timer)
    this.#idle.delete(idle)
    void end(idle.client)
  }
}

/** Ends a connection at once: the server's own limit ends the rest. */
async function end(client: pg.Client): Promise<void> {
  client.connection.stream.destroy()
  await client.end().catch(() => {})
}

/** Removes settings from the address, which would override others. */
function addressOf({ url, role, password }: Login): ClientConfig {
  const address = new URL(url)
  for (const name of ['user', 'password', 'options', 'application_name']) address.searchParams.delete(name)
  address.username = role
  address.password = password
  return { connectionString: address.href, application_name: 'agentstead_sql' }
}
