import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { shareData } from './data-lock.ts'

interface Options {
  url: string
  channel: string
  onNotification(payload: string): void
  /** Called each time listening starts or resumes; notifications sent in between are lost. */
  onReconnect(): void
  onError(error: Error): void
}

export interface Listener {
  close(): Promise<void>
}

/** In milliseconds. */
const pauseBeforeReconnecting = 1_000
const heartbeatInterval = 10_000
const answerTimeout = 5_000

/**
 * Listens to a channel on a connection of its own, which is replaced whenever it breaks. A first failure is not
 * reported as an error, since listeners have to cope with gaps anyway. While it listens, no other process can have the data
 * exclusively.
 */
export async function listen(options: Options): Promise<Listener> {
  const closing = new AbortController()
  const first = Promise.withResolvers<void>()
  const ended = keepListening(options, closing.signal, first.resolve)
  await first.promise
  return {
    async close() {
      closing.abort()
      await ended
    },
  }
}

async function keepListening(options: Options, signal: AbortSignal, onTried: () => void): Promise<void> {
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

/** Ends when the connection does. */
async function listenOnce(options: Options, signal: AbortSignal, onListening: () => void): Promise<void> {
  const client = new pg.Client({
    connectionString: options.url,
    application_name: 'agentstead',
    keepAlive: true,
    connectionTimeoutMillis: answerTimeout,
    query_timeout: answerTimeout,
  })
  const broken = Promise.withResolvers<never>()
  // There may be no waiter yet.
  broken.promise.catch(() => {})
  client.on('error', broken.reject)
  client.on('end', () => broken.reject(new Error('the server has ended the connection')))
  client.on('notification', ({ payload }) => options.onNotification(payload ?? ''))
  const stop = () => broken.reject(signal.reason)
  signal.addEventListener('abort', stop)
  try {
    await Promise.race([client.connect(), broken.promise])
    await shareData(client)
    await client.query(`listen ${client.escapeIdentifier(options.channel)}`)
    onListening()
    options.onReconnect()
    await Promise.race([broken.promise, beat(client, signal)])
  } finally {
    signal.removeEventListener('abort', stop)
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
