import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { shareData } from './data-lock.ts'

interface Options {
  url: string
  onError(error: Error): void
}

interface Subscription {
  channel: string
  onNotification(payload: string): void
  /** Called each time listening starts or resumes; notifications sent in between are lost. */
  onReconnect(): void
}

export interface Listener {
  close(): Promise<void>
}

/** A pause, an interval and a time limit (ms). */
const pauseBeforeReconnecting = 1_000
const heartbeatInterval = 10_000
const answerTimeout = 5_000

interface Shared extends Options {
  subscriptions: Set<Subscription>
  /** The connection, while it listens. */
  client?: pg.Client | undefined
}

/**
 * Listens to channels on one connection, which is open while there are subscriptions, and replaced whenever
 * it breaks. A first failure is not reported as an error, because listeners have to cope with gaps anyway.
 * While it listens, no other process can have the data exclusively.
 */
export function createListener(options: Options) {
  const shared: Shared = { ...options, subscriptions: new Set() }
  let closing = new AbortController()
  let ended: Promise<void> | undefined

  return {
    async listen(subscription: Subscription): Promise<Listener> {
      shared.subscriptions.add(subscription)
      if (ended === undefined) {
        const first = Promise.withResolvers<void>()
        closing = new AbortController()
        ended = keepListening(shared, closing.signal, first.resolve)
        await first.promise
      } else if (shared.client !== undefined) await begin(shared.client, subscription)
      return {
        async close() {
          shared.subscriptions.delete(subscription)
          if (shared.subscriptions.size > 0) return
          closing.abort()
          await ended
          ended = undefined
        },
      }
    },
  }
}

async function begin(client: pg.Client, { channel, onReconnect }: Subscription): Promise<void> {
  await client.query(`listen ${client.escapeIdentifier(channel)}`)
  onReconnect()
}

async function keepListening(options: Shared, signal: AbortSignal, onTried: () => void): Promise<void> {
  while (!signal.aborted) {
    try {
      await listenOnce(options, signal, onTried)
    } catch (error) {
      if (!signal.aborted) options.onError(error instanceof Error ? error : new Error(String(error)))
    }
    onTried()
    await delay(pauseBeforeReconnecting, undefined, { signal }).catch(() => {})
  }
}

/** Listens until the connection ends. */
async function listenOnce(options: Shared, signal: AbortSignal, onListening: () => void): Promise<void> {
  const client = new pg.Client({
    connectionString: options.url,
    application_name: 'agentstead',
    keepAlive: true,
    connectionTimeoutMillis: answerTimeout,
    query_timeout: answerTimeout,
  })
  const broken = Promise.withResolvers<never>()
  // Prevents an unhandled rejection before anything waits for this promise.
  broken.promise.catch(() => {})
  client.on('error', broken.reject)
  client.on('end', () => broken.reject(new Error('the server has ended the connection')))
  client.on('notification', ({ channel, payload = '' }) => {
    for (const subscription of options.subscriptions)
      if (subscription.channel === channel) subscription.onNotification(payload)
  })
  const stop = () => broken.reject(signal.reason)
  signal.addEventListener('abort', stop)
  try {
    await Promise.race([client.connect(), broken.promise])
    await shareData(client)
    options.client = client
    for (const subscription of options.subscriptions) await begin(client, subscription)
    onListening()
    await Promise.race([broken.promise, beat(client, signal)])
  } finally {
    signal.removeEventListener('abort', stop)
    options.client = undefined
    await client.end().catch(() => {})
  }
}

/** A connection that was cut silently looks alive until it is used. */
async function beat(client: pg.Client, signal: AbortSignal): Promise<never> {
  while (true) {
    await delay(heartbeatInterval, undefined, { signal })
    await client.query('select 1')
  }
}
