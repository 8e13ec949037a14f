import { createStore } from './store.ts'

/**
 * `offline`: the server is unreachable and is retried until it answers. `signed-out`: the server no longer
 * knows the caller, and a reload did not help.
 */
export const connection = createStore<'online' | 'offline' | 'signed-out'>('online')
/** The time until which requests wait after too many of them, in milliseconds since 1970; 0 for no wait. */
export const busyUntil = createStore(0)

const maxPauseMs = 5000
const reconnected = new Set<() => void>()

/** Calls `listener` each time the server becomes reachable again. */
export function onReconnect(listener: () => void): void {
  reconnected.add(listener)
}

export function reportUnreachable(): void {
  if (connection.get() !== 'online') return
  connection.set('offline')
  lookForServer(500)
}

function lookForServer(pauseMs: number): void {
  setTimeout(async () => {
    const isBack = await fetch('/readyz', { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (!isBack) return lookForServer(Math.min(pauseMs * 1.5, maxPauseMs))
    connection.set('online')
    for (const listener of reconnected) listener()
  }, pauseMs)
}

const reloadedKey = 'reloaded-at'
const reloadAgainAfterMs = 60_000

/** A gateway signs people in on page loads: the first refusal reloads the page, the next is reported. */
export function reportSignedOut(): void {
  const last = Number(sessionStorage.getItem(reloadedKey) ?? 0)
  if (Date.now() - last < reloadAgainAfterMs) {
    connection.set('signed-out')
    return
  }
  sessionStorage.setItem(reloadedKey, String(Date.now()))
  location.reload()
}
