import type { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { streamEventSchema } from '../stream-events.schema.ts'
import { currentTurnSchema, stoppedSchema } from '../turns.schema.ts'
import type { TurnEvents } from './turn-events.ts'
import type { TurnsService } from './turns.service.ts'

const place = Type.String({ maxLength: 200, description: 'The id of the last event that was received.' })

export function registerTurnRoutes(app: App, turns: TurnsService, events: Pick<TurnEvents, 'follow'>): void {
  const routes = routesBelow(app, '/api/agents/:id/chat', 'Chat', 'chat')

  routes.get('/conversations/:conversationId/turn', {
    name: 'getCurrentTurn',
    summary: 'Get the turn that runs in a conversation',
    answer: currentTurnSchema,
    chat: true,
    handle: async request => ({ turn: await turns.current(request, request.params.conversationId) }),
  })
  app.route({
    method: 'GET',
    url: '/api/agents/:id/chat/turns/:turnId/events',
    exposeHeadRoute: false,
    config: {
      area: 'chat',
      access: 'viewer',
      limit: 'general',
      operationId: 'followTurn',
      chat: true,
    },
    schema: {
      summary: 'Get the events of a turn in the background',
      description: 'A stream of server-sent events, those that came before and those to come.',
      tags: ['Chat'],
      params: Type.Object({ id: Type.String(), turnId: Type.String() }),
      headers: Type.Object({ 'last-event-id': Type.Optional(place) }),
      querystring: Type.Object({ after: Type.Optional(place) }),
      response: {
        200: { content: { 'text/event-stream': { schema: Type.Unsafe<Readable>(streamEventSchema) } } },
        204: Type.Null({ description: 'The turn is over, and all its events were read.' }),
      },
    },
    handler: (request, reply) => {
      const { headers, params, query } = request
      return events.follow(request, reply, params.turnId, headers['last-event-id'] ?? query.after)
    },
  })
  routes.post('/turns/:turnId/stop', {
    name: 'stopTurn',
    summary: 'End a turn',
    description: 'The answer keeps what was said. A turn that has ended stays as it is.',
    access: 'chatter',
    audit: 'exempt',
    answer: stoppedSchema,
    chat: true,
    handle: request => turns.stop(request, request.params.turnId),
  })
}
