import { createStore } from './store.ts'

/**
 * `offline`: the server can't be reached, and is looked for until it can. `signed-out`: it does not know the caller any
 * more, and a reload did not help.
 */
export const connection = createStore<'online' | 'offline' | 'signed-out'>('online')
/** Until when requests wait, since there were too many, in milliseconds since 1970; 0 for not at all. */
export const busyUntil = createStore(0)

const maxPauseMs = 5000
const reconnected = new Set<() => void>()

/** Calls back each time when the server can be reached again. */
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

/** A gateway signs people in when a page is loaded: so the first refusal reloads the page, and the next says so. */
export function reportSignedOut(): void {
  const last = Number(sessionStorage.getItem(reloadedKey) ?? 0)
  if (Date.now() - last < reloadAgainAfterMs) {
    connection.set('signed-out')
    return
  }
  sessionStorage.setItem(reloadedKey, String(Date.now()))
  location.reload()
}
