/** What happens in a session, as it is told to whoever listens: chat, channels, recordings. */
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
  /** The session has ended; nothing follows. */
  ended: [{ status: 'closed' | 'error' }]
}
