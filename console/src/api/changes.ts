import { useEffect, useRef } from 'react'
import type { Static } from 'typebox'
import type { changeSchema } from '#features/overview/overview.schema.ts'
import { open } from './client.ts'
import { onReconnect } from './connection.ts'
import { ApiError } from './errors.ts'
import { readEvents } from './event-stream.ts'
import { invalidate } from './query.ts'
import { get, path } from './request.ts'

/** What changed, by the name of its resource; `id` is absent where any of them may have. */
export type Change = Static<typeof changeSchema>

/** Paths below the agent's that show a resource, where that is not its own name. */
const shownBelow: Record<string, readonly string[]> = {
  admins: ['/admins', ''],
  approvals: ['/chat/approvals', '/attention'],
  browser: ['/browser', '/attention'],
  // They change each second while an answer is given: the chat follows them at its own pace.
  conversations: [],
  executions: ['/workflows', '/attention'],
  mcp: ['/mcp', '/tools', '/attention'],
  messages: [],
  'payment-notifications': ['/payment-notifications', '/attention'],
  settings: ['/settings', ''],
  sources: ['/sources', '/attention'],
}

/** The paths that a change makes stale. */
function changedPaths(base: string, { type }: Change): string[] {
  // Everything may have changed: `open` reports nothing that changed between the first reads and itself.
  if (type === 'open' || type === 'reset') return ['/api']
  const below = (shownBelow[type] ?? [`/${type}`]).map(rest => base + rest)
  // The list of agents, which the frame shows.
  return type === 'settings' ? [...below, '/api/agents'] : below
}

const listeners = new Set<(change: Change) => void>()

/** Calls back for each change of the agent that is shown, in every tab. */
export function useChanges(listener: (change: Change) => void): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => {
    const notify = (change: Change) => latest.current(change)
    listeners.add(notify)
    return () => void listeners.delete(notify)
  }, [])
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

/** Ends early when the server can be reached again, and with the signal. */
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
