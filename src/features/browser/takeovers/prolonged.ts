import type { BrowserSession } from '../sessions/browser-session.ts'

/** Does work, and reports each later end of the session's takeover (milliseconds since the epoch). */
export async function whileProlonged<Result>(
  session: Pick<BrowserSession, 'takeover' | 'events'>,
  prolonged: (until: number) => void,
  work: () => Promise<Result>,
): Promise<Result> {
  let known = session.takeover?.expiresAt ?? 0
  const look = () => {
    const until = session.takeover?.expiresAt ?? known
    if (until > known) prolonged(until)
    known = Math.max(known, until)
  }
  session.events.on('takeover.changed', look)
  try {
    return await work()
  } finally {
    session.events.off('takeover.changed', look)
  }
}
