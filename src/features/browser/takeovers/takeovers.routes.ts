import { labelOf } from '#platform/actor.ts'
import type { App } from '#platform/http/app.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { OpenSession } from '../sessions/browser-session.ts'
import {
  endTakeoverSchema,
  newTakeoverSchema,
  requestedTakeoverSchema,
  takeoverSchema,
} from './takeovers.schema.ts'
import type { Takeovers } from './takeovers.service.ts'

interface Dependencies {
  takeovers: Takeovers
  browser: { open: OpenSession }
}

const drives = { limit: 'browser', atHolder: true } as const

export function registerTakeoverRoutes(app: App, { takeovers, browser }: Dependencies): void {
  const routes = routesBelow(app, '/api/agents/:id/browser/:sessionId/takeover', 'Browser')

  routes.create('', {
    name: 'requestBrowserTakeover',
    summary: 'Request that a person takes over a browser session',
    description: 'The agent waits while the person drives the session.',
    ...drives,
    body: newTakeoverSchema,
    answer: requestedTakeoverSchema,
    async handle({ agent, params, body, actor }) {
      const session = await browser.open(agent, params.sessionId)
      const { takeover, link } = await takeovers.request(agent, session, body, labelOf(actor) ?? 'api')
      const { id: takeover_id, status } = takeover
      return { takeover_id, status, takeover_url: link.url, expires_at: link.expires_at }
    },
  })
  routes.get('', {
    name: 'getBrowserTakeover',
    summary: 'Get the state of a takeover',
    ...drives,
    answer: takeoverSchema,
    async handle({ agent, params, isAdmin }) {
      const session = await browser.open(agent, params.sessionId)
      return await takeovers.get(session, isAdmin)
    },
  })
  routes.post('/end', {
    name: 'endBrowserTakeover',
    summary: 'Return a browser session to its agent',
    ...drives,
    body: endTakeoverSchema,
    answer: successSchema,
    async handle({ agent, params, body }) {
      const session = await browser.open(agent, params.sessionId)
      await takeovers.handBack(session, body.note)
      return { success: true }
    },
  })
}
