import type { EventEmitter } from 'node:events'
import type { TakeoverOutcome } from './takeover.ts'

/** Events of a session for its listeners: chat, channels, recordings. */
export interface SessionEvents {
  /** A tab was opened by anyone. `pageId` is always the target id of the DevTools protocol. */
  'page.opened': [{ pageId: string }]
  'page.closed': [{ pageId: string }]
  /** The default tab for actions changed. */
  'page.activated': [{ pageId: string }]
  /** The main frame has another address, or has loaded it; `title` is empty until then. */
  'page.navigated': [{ pageId: string; url: string; title: string }]
  /** A tab's process died; the tab is closed, and a new one opened if it was the last. */
  'page.crashed': [{ pageId: string }]
  /** A page shows a dialog; it does nothing else until the dialog is answered. */
  dialog: [{ pageId: string; kind: string; message: string }]
  download: [{ pageId: string; url: string; fileName: string }]
  console: [{ pageId: string; level: string; text: string; timestamp: number }]
  /** A blocked address was not opened. */
  'address.refused': [{ pageId: string; url: string }]
  /** An action of the agent, without typed text. */
  'action.began': [{ action: string; selector?: string; url?: string }]
  'takeover.began': [{ takeoverId: string; reason: string }]
  /** The driver, the end or the visibility has changed. */
  'takeover.changed': []
  'takeover.ended': [{ takeoverId: string; outcome: TakeoverOutcome; note: string | null }]
  /** The session has ended; nothing follows. */
  ended: [{ status: 'closed' | 'error' }]
}

type Handlers = { [Name in keyof SessionEvents]?: (...[event]: SessionEvents[Name]) => void }

/** Handles events until the returned function is called. */
export function listen(events: EventEmitter<SessionEvents>, handlers: Handlers): () => void {
  const all = Object.entries(handlers) as [keyof SessionEvents, () => void][]
  for (const [name, handle] of all) events.on(name, handle)
  return () => {
    for (const [name, handle] of all) events.off(name, handle)
  }
}
