import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import type { BrowserService } from '../browser.service.ts'
import {
  endTakeoverSchema,
  newTakeoverSchema,
  requestedTakeoverSchema,
  takeoverSchema,
} from './takeovers.schema.ts'
import type { Takeovers } from './takeovers.service.ts'

interface Dependencies {
  takeovers: Takeovers
  browser: Pick<BrowserService, 'open'>
}

const params = Type.Object({ id: Type.String(), sessionId: Type.String() })
const reading = { area: 'generic', access: 'viewer', limit: 'browser', atHolder: true } as const
const driving = { ...reading, access: 'admin' } as const
const tags = ['Browser']
const url = '/api/agents/:id/browser/:sessionId/takeover'

export function registerTakeoverRoutes(app: App, { takeovers, browser }: Dependencies): void {
  app.route({
    method: 'POST',
    url,
    config: { ...driving, operationId: 'requestBrowserTakeover' },
    schema: {
      summary: 'Have a person drive a browser session; the agent waits meanwhile',
      tags,
      params,
      body: newTakeoverSchema,
      response: { 201: requestedTakeoverSchema },
    },
    handler: async (request, reply) => {
      const session = await browser.open(request.agent, request.params.sessionId)
      const requestedBy = request.user?.email ?? 'api'
      const { takeover, link } = await takeovers.request(request.agent, session, request.body, requestedBy)
      const { id: takeover_id, status } = takeover
      return reply
        .code(201)
        .send({ takeover_id, status, takeover_url: link.url, expires_at: link.expires_at })
    },
  })

  app.route({
    method: 'GET',
    url,
    config: { ...reading, operationId: 'getBrowserTakeover' },
    schema: {
      summary: 'What a person is asked to do in a browser session, and who drives',
      tags,
      params,
      response: { 200: takeoverSchema },
    },
    handler: async request => {
      const session = await browser.open(request.agent, request.params.sessionId)
      return await takeovers.get(session, request.isAdmin)
    },
  })

  app.route({
    method: 'POST',
    url: `${url}/end`,
    config: { ...driving, operationId: 'endBrowserTakeover' },
    schema: {
      summary: 'Hand a browser session back to its agent',
      tags,
      params,
      body: endTakeoverSchema,
      response: { 200: successSchema },
    },
    handler: async request => {
      const session = await browser.open(request.agent, request.params.sessionId)
      await takeovers.handBack(session, request.body.note)
      return { success: true }
    },
  })
}
