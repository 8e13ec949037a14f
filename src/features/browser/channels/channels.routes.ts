import type { FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import { AppError } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import type { Recordings } from '../recordings/recordings.service.ts'
import type { BrowserSession, Tab } from '../sessions/browser-session.ts'
import { parametersOf } from '../sessions/session-id.ts'
import type { Takeovers } from '../takeovers/takeovers.service.ts'
import type { Admission, ChannelOptions } from './admission.ts'
import { openCast } from './cast.ts'
import { closeCodes, createConnection } from './connection.ts'
import type { ScreencastOf } from './screencast.ts'
import { openLogs, openPageIds, openRecording } from './small-channels.ts'

interface Dependencies {
  admission: Admission
  takeovers: Takeovers
  recordings: Recordings
  screencastOf: ScreencastOf
}

/** The channels of browser sessions. Their handlers decide access, because the address names no agent. */
export function registerChannels(app: App, dependencies: Dependencies): void {
  const channels: Record<string, (options: ChannelOptions) => void> = {
    cast: options => castTo(options, dependencies),
    logs: openLogs,
    pageId: openPageIds,
    recording: options => openRecording(options, dependencies.recordings),
  }
  for (const [name, open] of Object.entries(channels))
    app.route({
      method: 'GET',
      url: `/v1/sessions/${name}`,
      config: { area: 'generic', access: 'open', limit: 'browser', atHolder: true },
      schema: { hide: true },
      handler() {
        throw new AppError('NOT_FOUND', 'This is a channel. Open it as a WebSocket.')
      },
      wsHandler: (socket, request) => admitTo(open, socket, request, dependencies.admission),
    })
}

async function admitTo(
  open: (options: ChannelOptions) => void,
  socket: WebSocket,
  request: FastifyRequest,
  { admit }: Admission,
): Promise<void> {
  const connection = createConnection(socket)
  // Messages wait until access is decided.
  socket.pause()
  const admitted = await admit(request).catch(error => {
    request.log.warn({ err: error, requestId: request.id }, 'access to a channel could not be looked up')
    return { code: 1011, reason: 'Access could not be looked up.' }
  })
  socket.resume()
  if ('code' in admitted) {
    connection.close(admitted.code, admitted.reason)
    return
  }
  // A socket that has closed meanwhile would never be released.
  if (socket.readyState !== socket.OPEN) return
  admitted.guard(connection)
  open({ ...admitted, connection, parameters: parametersOf(request) })
}

function castTo(
  { session, viewer, connection, parameters }: ChannelOptions,
  dependencies: Dependencies,
): void {
  const pageId = parameters.get('pageId')
  const pageIndex = parameters.get('pageIndex')
  const isPinned = pageId !== null || pageIndex !== null
  const pinned = isPinned ? tabOf(session, pageId, Number(pageIndex)) : undefined
  if (isPinned && pinned === undefined) {
    connection.close(closeCodes.unknownSession, 'There is no such tab.')
    return
  }
  const isWithoutFrames = !isPinned && parameters.get('tabInfo') === 'true'
  openCast({ session, viewer, connection, pinned, isWithoutFrames }, dependencies)
}

function tabOf({ tabs }: BrowserSession, pageId: string | null, index: number): Tab | undefined {
  return pageId === null ? tabs[index] : tabs.find(tab => tab.pageId === pageId)
}
