import type { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { clientSignal } from '#platform/http/closing.ts'
import { executedSchema, executeSchema } from './actions/actions.schema.ts'
import type { ActionsService } from './actions.service.ts'
import type { BrowserService } from './browser.service.ts'

interface Dependencies {
  actions: ActionsService
  browser: Pick<BrowserService, 'open'>
  /** Of a body, which may hold files. */
  maxBytes: number
}

const atHolder = { area: 'generic', limit: 'browser', atHolder: true } as const
const sessionPath = Type.Object({ id: Type.String(), sessionId: Type.String() })
const downloadPath = Type.Object({ ...sessionPath.properties, downloadId: Type.String() })

export function registerActionRoutes(app: App, { actions, browser, maxBytes }: Dependencies): void {
  app.route({
    method: 'POST',
    url: '/api/agents/:id/browser/:sessionId/execute',
    config: { ...atHolder, access: 'admin', operationId: 'executeBrowserActions' },
    bodyLimit: maxBytes,
    schema: {
      summary: 'Do something in the active tab of a browser session: one action, or several in order',
      tags: ['Browser'],
      params: sessionPath,
      body: executeSchema,
      response: { 200: executedSchema },
    },
    handler: async (request, reply) => {
      const session = await browser.open(request.agent, request.params.sessionId)
      const signal = AbortSignal.any([clientSignal(reply), request.agent.signal])
      return reply.send(await actions.execute(session, request.body, signal))
    },
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/browser/:sessionId/downloads/:downloadId',
    config: { ...atHolder, access: 'viewer', operationId: 'readBrowserDownload' },
    schema: {
      summary: 'A file that a page of the session has downloaded, until the session ends',
      tags: ['Browser'],
      params: downloadPath,
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
        .header(
          'content-disposition',
          `attachment; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
        )
        .send(stream)
    },
  })
}
