import { useEffect, useRef } from 'react'
import type { Static } from 'typebox'
import type { changeSchema } from '#features/overview/overview.schema.ts'
import { open } from './client.ts'
import { onReconnect } from './connection.ts'
import { ApiError } from './errors.ts'
import { readEvents } from './event-stream.ts'
import { invalidate } from './query.ts'
import { get, path } from './request.ts'

/** A change, named by its resource; without an `id`, any resource of the type might have changed. */
export type Change = Static<typeof changeSchema>

/** Paths below the agent's that show a resource; defaults to the resource's own name. */
const shownBelow: Record<string, readonly string[]> = {
  admins: ['/admins', ''],
  approvals: ['/chat/approvals', '/attention'],
  browser: ['/browser', '/attention'],
  // Conversations change each second during an answer: the chat follows them at its own pace.
  conversations: [],
  executions: ['/workflows', '/attention'],
  mcp: ['/mcp', '/tools', '/attention'],
  messages: [],
  'payment-notifications': ['/payment-notifications', '/attention'],
  settings: ['/settings', ''],
  sources: ['/sources', '/attention'],
}

/** Returns the paths that a change makes stale. */
function changedPaths(base: string, { type }: Change): string[] {
  // Everything might have changed: `open` does not report changes between the first reads and itself.
  if (type === 'open' || type === 'reset') return ['/api']
  const below = (shownBelow[type] ?? [`/${type}`]).map(rest => base + rest)
  // The list of agents, which the frame shows.
  return type === 'settings' ? [...below, '/api/agents'] : below
}

const listeners = new Set<(change: Change) => void>()

/** Calls `listener` for each change of the shown agent, in every tab. */
export function useChanges(listener: (change: Change) => void): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => {
    const notify = (change: Change) => latest.current(change)
    listeners.add(notify)
    return () => void listeners.delete(notify)
  }, [])
}

/** Time after which a hidden tab gives the stream to another (ms). */
const hiddenMs = 60_000
const retryMs = 2000
const firstPollMs = 3000
const maxPollMs = 15_000

/**
 * Follows the changes of an agent until the returned function is called. One tab of the browser shares its
 * stream: a server accepts six connections of one browser. Without a stream, shown queries are repeated.
 */
export function followChanges(agentId: string): () => void {
  const base = path`/api/agents/${agentId}`
  const stop = new AbortController()
  const channel = new BroadcastChannel(`changes ${agentId}`)
  const deliver = (change: Change) => {
    for (const listener of listeners) listener(change)
    void invalidate(changedPaths(base, change))
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

/** Waits to be the tab that holds the stream, whenever this tab is visible. */
async function lead(base: string, publish: (change: Change) => void, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await whenVisible(stop)
    const signal = AbortSignal.any([stop, hiddenFor(hiddenMs, stop)])
    const hold = () => holdStream(base, publish, signal)
    // Without a secure origin there are no locks, so the number of tabs is unknown.
    const lockRequest = navigator.locks
      ? navigator.locks.request(`changes ${base}`, { signal }, hold)
      : poll(base, signal)
    await lockRequest.catch(() => {})
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

/** Reads the events of the stream after the event `last`. */
async function* changesOf(base: string, last: string | undefined, signal: AbortSignal) {
  const headers = last === undefined ? {} : { 'Last-Event-ID': last }
  const response = await open(get(`${base}/events`), { signal, isShown: false, headers })
  for await (const { id, data } of readEvents(response)) yield { id, change: JSON.parse(data) as Change }
}

async function poll(base: string, signal: AbortSignal): Promise<void> {
  let intervalMs = firstPollMs
  while (!signal.aborted) {
    await pause(intervalMs, signal)
    if (document.visibilityState === 'visible') await invalidate([base])
    intervalMs = Math.min(maxPollMs, intervalMs * 1.5)
  }
}

/** Resolves after the time, or earlier: when the server is reachable again, or with the signal. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
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

/** Aborts once the page was hidden for that long. */
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
