import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { searchAnswerSchema, searchQuery } from './knowledge.schema.ts'
import type { KnowledgeService } from './knowledge.service.ts'

export function registerKnowledgeRoutes(app: App, knowledge: KnowledgeService): void {
  routesBelow(app, '/api/agents/:id/sources', 'Sources').get('/search', {
    name: 'searchSources',
    summary: 'Search the sources',
    description: 'Returns the best passages first.',
    soldAs: '/sources/search',
    query: searchQuery,
    answer: searchAnswerSchema,
    handle: async ({ agent, query }) => ({ results: await knowledge.search(agent, query) }),
  })
}
