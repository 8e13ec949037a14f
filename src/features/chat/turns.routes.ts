import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { currentTurnSchema, stoppedSchema } from './turns.schema.ts'
import type { TurnsService } from './turns.service.ts'

export function registerTurnRoutes(app: App, turns: TurnsService): void {
  const routes = routesBelow(app, '/api/agents/:id/chat', 'Chat', 'chat')

  routes.get('/conversations/:conversationId/turn', {
    name: 'getCurrentTurn',
    summary: 'Get the turn that runs in a conversation',
    answer: currentTurnSchema,
    chat: true,
    handle: async request => ({ turn: await turns.current(request, request.params.conversationId) }),
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
