import { setTimeout as delay } from 'node:timers/promises'
import type { PoolClient, PoolConfig } from 'pg'
import pg from 'pg'
import { isCrowded } from './errors.ts'

type OnConnected = Parameters<pg.Pool['connect']>[0]

/** Time after which the pool tries again to open more connections (ms). */
const retryMs = 1_000

/**
 * A pool that shares its open connections while the server accepts no others: users wait for one of these,
 * or, if there are none, until the server accepts one.
 */
export class PatientPool extends pg.Pool {
  readonly #max: number
  readonly #timeout: number
  /** Number of connections that the server has accepted, in use or not. */
  #held = 0
  #growing: NodeJS.Timeout | undefined

  constructor(config: PoolConfig & { max: number; connectionTimeoutMillis: number }) {
    super(config)
    this.#max = config.max
    this.#timeout = config.connectionTimeoutMillis
    this.on('connect', () => {
      this.#held += 1
    })
    this.on('remove', () => {
      this.#held -= 1
    })
  }

  override connect(): Promise<PoolClient>
  override connect(onConnected: OnConnected): void
  override connect(onConnected?: OnConnected): Promise<PoolClient> | undefined {
    const connecting = this.#connect(performance.now() + this.#timeout)
    if (onConnected === undefined) return connecting
    connecting.then(
      client => onConnected(undefined, client, client.release),
      error => onConnected(error, undefined, () => {}),
    )
    return undefined
  }

  async #connect(giveUpAt: number): Promise<PoolClient> {
    try {
      return await super.connect()
    } catch (error) {
      if (!isCrowded(error) || performance.now() > giveUpAt) throw error
      if (this.#held === 0) await delay(retryMs)
      else this.#shrink()
      return await this.#connect(giveUpAt)
    }
  }

  /** Limits the pool to its open connections: it hands on returned ones, first come, first served. */
  #shrink(): void {
    this.options.max = this.#held
    this.#growing ??= setTimeout(() => {
      this.options.max = this.#max
      this.#growing = undefined
    }, retryMs).unref()
  }
}
