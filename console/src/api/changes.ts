import { useEffect } from 'react'
import { open } from './client.ts'
import { onReconnect } from './connection.ts'
import { ApiError } from './errors.ts'
import { invalidate } from './query.ts'
import { path } from './request.ts'

/** One change of an agent's data, as its stream of events reports it. */
export interface Change {
  /** An event's name, such as `source.ready`. */
  type: string
  /** Of the record that changed. */
  id: string
  at: string
}

/** What is fetched again, below the agent's path, by the first word of an event's name. */
const resources: Record<string, readonly string[]> = {
  agent: [''],
  approval: ['/chat', '/attention'],
  browser: ['/browser', '/attention'],
  contact: ['/contacts'],
  conversation: ['/chat'],
  execution: ['/workflows', '/attention'],
  mcp: ['/mcp', '/tools', '/attention'],
  message: ['/chat'],
  payment: ['/transactions', '/payment-notifications', '/attention'],
  schedule: ['/schedules'],
  settings: ['/settings'],
  source: ['/sources', '/attention'],
  takeover: ['/browser', '/attention'],
  task: ['/calendar'],
  tool: ['/tools'],
  turn: ['/chat'],
  webhook: ['/webhooks'],
  workflow: ['/workflows', '/attention'],
}

const listeners = new Set<(change: Change) => void>()

/** Calls back for each change of the agent that is shown, in every tab. */
export function useChanges(listener: (change: Change) => void): void {
  useEffect(() => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [listener])
}

/** A hidden tab gives the stream to another after this time, in milliseconds. */
const hiddenMs = 60_000
const retryMs = 2000
const firstPollMs = 3000
const maxPollMs = 15_000

/**
 * Follows the changes of an agent until the returned function is called. One tab of the browser holds the stream, and the others
 * learn from it: a server accepts six connections of one browser. Where there is no stream, queries that are shown are repeated.
 */
export function followChanges(agentId: string): () => void {
  const base = path`/api/agents/${agentId}`
  const stop = new AbortController()
  const channel = new BroadcastChannel(`changes ${agentId}`)
  const deliver = (change: Change) => {
    for (const listener of listeners) listener(change)
    const changed = resources[change.type.split('.')[0] ?? ''] ?? []
    void invalidate(...changed.map(rest => base + rest))
  }
  channel.onmessage = ({ data }) => deliver(data as Change)
  const publish = (change: Change) => {
    channel.postMessage(change)
    deliver(change)
  }
  void lead(base, publish, stop.signal)
  stop.signal.addEventListener('abort', () => channel.close(), { once: true })
  return () => stop.abort()
}

/** Waits to be the tab that holds the stream, whenever this one is seen. */
async function lead(base: string, publish: (change: Change) => void, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await whenVisible(stop)
    const signal = AbortSignal.any([stop, hiddenFor(hiddenMs, stop)])
    const hold = () => holdStream(base, publish, signal)
    // Without a secure origin there are no locks, and so no telling how many tabs there are.
    const held = navigator.locks
      ? navigator.locks.request(`changes ${base}`, { signal }, hold)
      : poll(base, signal)
    await held.catch(() => {})
  }
}

async function holdStream(base: string, publish: (change: Change) => void, signal: AbortSignal) {
  let last: string | undefined
  while (!signal.aborted) {
    try {
      for await (const { id, change } of changesOf(base, last, signal)) {
        last = id ?? last
        publish(change)
      }
    } catch (error) {
      if (error instanceof ApiError && error.status !== 429 && error.status < 500) return poll(base, signal)
    }
    await pause(retryMs, signal)
  }
}

/** The events of the stream, from the one after `last` on. */
async function* changesOf(base: string, last: string | undefined, signal: AbortSignal) {
  const query = last === undefined ? {} : { last_event_id: last }
  const response = await open({ method: 'GET', path: `${base}/events`, query }, { signal, isShown: false })
  const text = response.body?.pipeThrough(new TextDecoderStream())
  let rest = ''
  for await (const piece of text ?? []) {
    const events = (rest + piece).split(/\r?\n\r?\n/)
    rest = events.pop() ?? ''
    for (const event of events) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(event)?.[1]
      const data = field('data')
      if (data !== undefined) yield { id: field('id'), change: JSON.parse(data) as Change }
    }
  }
}

async function poll(base: string, signal: AbortSignal): Promise<void> {
  let intervalMs = firstPollMs
  while (!signal.aborted) {
    await pause(intervalMs, signal)
    if (document.visibilityState === 'visible') await invalidate(base)
    intervalMs = Math.min(maxPollMs, intervalMs * 1.5)
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(resolve, milliseconds)
    onReconnectOnce(resolve)
    signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true })
  })
}

const waiting = new Set<() => void>()
onReconnect(() => {
  for (const resolve of waiting) resolve()
  waiting.clear()
})
const onReconnectOnce = (resolve: () => void) => waiting.add(resolve)

function whenVisible(stop: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (document.visibilityState === 'visible' || stop.aborted) return resolve()
    document.addEventListener('visibilitychange', () => resolve(), { once: true, signal: stop })
    stop.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Aborts once the page was hidden for so long. */
function hiddenFor(milliseconds: number, stop: AbortSignal): AbortSignal {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  document.addEventListener(
    'visibilitychange',
    () => {
      clearTimeout(timer)
      if (document.visibilityState === 'hidden') timer = setTimeout(() => controller.abort(), milliseconds)
    },
    { signal: AbortSignal.any([stop, controller.signal]) },
  )
  return controller.signal
}
