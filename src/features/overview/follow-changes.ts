import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { Change, ChangeFeed } from '#platform/change-feed.ts'
import { keepAliveMs } from '#platform/http/responses/sse.ts'

interface Options {
  agentId: string
  /** `id` of the last event that the client has received. */
  lastEventId: string | undefined
  /** Returns true if the client may know of a change. */
  isVisible(change: Change): boolean | Promise<boolean>
  now(): string
  /** Ends the events. */
  signal: AbortSignal
}

/**
 * Streams the changes of an agent as server-sent events. Each is written when the client has read those
 * before it, so a slow client gets only the newest state of later changes, and costs no memory.
 */
export function followChanges(feed: ChangeFeed, options: Options): Readable {
  return Readable.from(eventsOf(feed, options), { objectMode: false })
}

async function* eventsOf(feed: ChangeFeed, options: Options): AsyncGenerator<string> {
  const { agentId, lastEventId, isVisible, now, signal } = options
  const follower = feed.follow(agentId, lastEventId)
  const event = (change: object) =>
    `id: ${follower.place()}\nevent: message\ndata: ${JSON.stringify(change)}\n\n`
  const ended = new Promise<void>(resolve => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  try {
    if (lastEventId === undefined) yield event({ type: 'open', at: now() })
    while (!signal.aborted) {
      const changes = follower.take()
      if (changes === 'missed') yield event({ type: 'reset', at: now() })
      else
        for (const { type, id, at } of changes)
          if (await isVisible({ type, ...(id !== undefined && { id }) })) yield event({ type, id, at })
      const pause = new AbortController()
      const isQuiet = delay(keepAliveMs, true, { signal: pause.signal, ref: false }).catch(() => false)
      const changed = follower.changed().then(() => false)
      if (await Promise.race([changed, ended.then(() => false), isQuiet])) yield ': keep-alive\n\n'
      pause.abort()
    }
  } finally {
    follower.end()
  }
}
