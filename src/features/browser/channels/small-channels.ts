import type { Recordings } from '../recordings/recordings.service.ts'
import { listen, type SessionEvents } from '../sessions/session-events.ts'
import type { ChannelOptions } from './admission.ts'

/** Sends new console messages of pages. */
export function openLogs({ session, viewer, connection }: ChannelOptions): void {
  const write = (entry: SessionEvents['console'][0]) => {
    const isVisible = session.takeover?.isVisibleTo(viewer) ?? true
    if (isVisible) connection.sendIfReady([entry])
  }
  connection.onClose(listen(session.events, { console: write, ended: endOf(connection) }))
}

/** Sends the id of a page that is new, shows something else, or is the active one. */
export function openPageIds({ session, connection }: ChannelOptions): void {
  const write = ({ pageId }: { pageId: string }) => connection.sendIfReady({ pageId })
  const events = { 'page.opened': write, 'page.navigated': write, 'page.activated': write }
  connection.onClose(listen(session.events, { ...events, ended: endOf(connection) }))
  if (session.activeTab !== undefined) write(session.activeTab)
}

/** Sends changes of the active tab's page as events. */
export function openRecording({ session, connection }: ChannelOptions, recordings: Recordings): void {
  const stop = recordings.watch(session, events => connection.sendWhole(events))
  const unlisten = listen(session.events, { ended: endOf(connection) })
  connection.onClose(() => {
    stop()
    unlisten()
  })
}

function endOf(connection: ChannelOptions['connection']): () => void {
  return () => connection.close(1000, 'The session has ended.')
}
