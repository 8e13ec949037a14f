import type { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { attachment } from '#platform/http/responses/headers.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { OpenSession } from '../sessions/browser-session.ts'
import { executedSchema, executeSchema } from './actions.schema.ts'
import type { ActionsService } from './actions.service.ts'

interface Dependencies {
  actions: ActionsService
  browser: { open: OpenSession }
  /** Max bytes of a body, which can contain files. */
  maxBytes: number
}

export function registerActionRoutes(app: App, { actions, browser, maxBytes }: Dependencies): void {
  const base = '/api/agents/:id/browser/:sessionId'

  routesBelow(app, base, 'Browser').post('/execute', {
    name: 'executeBrowserActions',
    audit: 'described',
    summary: 'Run one or several actions in a browser session',
    description: 'They run in order, in the active tab.',
    limit: 'browser',
    atHolder: true,
    bodyLimit: maxBytes,
    body: executeSchema,
    answer: executedSchema,
    async handle({ agent, params, body }, reply) {
      const session = await browser.open(agent, params.sessionId)
      const signal = AbortSignal.any([clientSignal(reply), agent.signal])
      return await actions.execute(session, body, signal)
    },
  })

  app.route({
    method: 'GET',
    url: `${base}/downloads/:downloadId`,
    config: {
      area: 'generic',
      access: 'viewer',
      limit: 'browser',
      atHolder: true,
      operationId: 'readBrowserDownload',
    },
    schema: {
      summary: 'Get a file that a page of the session downloaded',
      description: 'It is kept until the session ends.',
      tags: ['Browser'],
      params: Type.Object({ id: Type.String(), sessionId: Type.String(), downloadId: Type.String() }),
      response: {
        200: {
          content: {
            'application/octet-stream': { schema: Type.Unsafe<Readable>(Type.String({ format: 'binary' })) },
          },
        },
      },
    },
    handler: async (request, reply) => {
      const { sessionId, downloadId } = request.params
      const session = await browser.open(request.agent, sessionId)
      const { name, size, stream } = await actions.download(session, downloadId)
      return reply
        .header('content-type', 'application/octet-stream')
        .header('content-length', size)
        .header('content-disposition', attachment(name))
        .send(stream)
    },
  })
}
