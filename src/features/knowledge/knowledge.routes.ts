import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { searchAnswerSchema, searchQuery } from './knowledge.schema.ts'
import type { KnowledgeService } from './knowledge.service.ts'

export function registerKnowledgeRoutes(app: App, knowledge: KnowledgeService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/sources/search',
    config: {
      area: 'generic',
      access: 'viewer',
      limit: 'general',
      soldAs: '/sources/search',
      operationId: 'searchSources',
    },
    schema: {
      summary: 'Search the sources',
      description: 'Returns the best passages first.',
      tags: ['Sources'],
      params: Type.Object({ id: Type.String() }),
      querystring: searchQuery,
      response: { 200: searchAnswerSchema },
    },
    handler: async request => ({ results: await knowledge.search(request.agent, request.query) }),
  })
}
