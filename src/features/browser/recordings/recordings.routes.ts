import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { notFound } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { limitWaiting } from '#platform/http/responses/slow-readers.ts'
import type { Recordings } from './recordings.service.ts'

const sessionPath = Type.Object({ id: Type.String(), sessionId: Type.String() })

export function registerRecordingRoutes(app: App, recordings: Recordings): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/browser/:sessionId/recording',
    config: { area: 'generic', access: 'viewer', limit: 'browser', operationId: 'readBrowserRecording' },
    schema: {
      summary: 'Get the recording of a browser session as rrweb events',
      tags: ['Browser'],
      params: sessionPath,
      response: {
        200: { content: { 'application/json': { schema: Type.Unsafe<Readable>(Type.Object({})) } } },
      },
    },
    handler: async (request, reply) => {
      const { sessionId } = request.params
      const recording = await recordings.find(request.agent, sessionId)
      if (recording === undefined) throw notFound('Recording')
      limitWaiting(reply.raw)
      return reply
        .type('application/json')
        .send(Readable.from(recordings.read(request.agent, sessionId, recording)))
    },
  })
}
