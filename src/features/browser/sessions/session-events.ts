import type { EventEmitter } from 'node:events'
import type { TakeoverOutcome } from './takeover.ts'

/** Events of a session for its listeners: chat, channels, recordings. */
export interface SessionEvents {
  /** A tab was opened, by whomever. `pageId` is the target id of the DevTools protocol, everywhere. */
  'page.opened': [{ pageId: string }]
  'page.closed': [{ pageId: string }]
  /** The tab that acts without naming one act on is another one. */
  'page.activated': [{ pageId: string }]
  /** The main frame is at another address, or has loaded it; `title` is empty until then. */
  'page.navigated': [{ pageId: string; url: string; title: string }]
  /** A tab's process died; the tab is closed, and a new one opened if it was the last. */
  'page.crashed': [{ pageId: string }]
  /** A page wants an answer; it does nothing else until it has one. */
  dialog: [{ pageId: string; kind: string; message: string }]
  download: [{ pageId: string; url: string; fileName: string }]
  console: [{ pageId: string; level: string; text: string; timestamp: number }]
  /** An address was not opened, since it is none that may be. */
  'address.refused': [{ pageId: string; url: string }]
  /** An action of the agent, without the text that it types. */
  'action.began': [{ action: string; selector?: string; url?: string }]
  'takeover.began': [{ takeoverId: string; reason: string }]
  /** Who drives, until when, or who may watch has changed. */
  'takeover.changed': []
  'takeover.ended': [{ takeoverId: string; outcome: TakeoverOutcome; note: string | null }]
  /** The session has ended; nothing follows. */
  ended: [{ status: 'closed' | 'error' }]
}

type Handlers = { [Name in keyof SessionEvents]?: (...[event]: SessionEvents[Name]) => void }

/** Handles events until the function that is returned is called. */
export function listen(events: EventEmitter<SessionEvents>, handlers: Handlers): () => void {
  const all = Object.entries(handlers) as [keyof SessionEvents, () => void][]
  for (const [name, handle] of all) events.on(name, handle)
  return () => {
    for (const [name, handle] of all) events.off(name, handle)
  }
}
