import { Type } from 'typebox'
import { notFound } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { findByPath } from './resources.repository.ts'
import type { Receipt } from './resources.schema.ts'
import { newResourceSchema, resourceSchema, soldSchema } from './resources.schema.ts'
import type { ResourcesService } from './resources.service.ts'

export function registerResourceRoutes(app: App, resources: ResourcesService): void {
  const routes = routesBelow(app, '/api/agents/:id/x402-resources', 'Payments', 'payments')

  routes.list('', {
    name: 'listPaidResources',
    summary: 'List paid resources',
    rows: 'resources',
    of: resourceSchema,
    handle: ({ agent, query }) => resources.list(agent, query),
  })
  routes.create('', {
    name: 'sellPaidResource',
    summary: 'Create a paid resource',
    description: 'Callers without a role then pay for the call, or for a path of its own.',
    body: newResourceSchema,
    answer: resourceSchema,
    handle: ({ agent, body }) => resources.create(agent, body),
  })
  routes.remove('/:resourceId', {
    name: 'deletePaidResource',
    summary: 'Delete a paid resource',
    handle: ({ agent, params }) => resources.remove(agent, params.resourceId),
  })
  registerOwnPaths(app)
}

function registerOwnPaths(app: App): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/x402/*',
    config: {
      area: 'payments',
      access: 'viewer',
      limit: 'general',
      soldAs: '*',
      operationId: 'buyPaidResource',
    },
    schema: {
      summary: 'Buy a paid resource that has its own path',
      tags: ['Payments'],
      params: Type.Object({
        id: Type.String(),
        '*': Type.String({ description: 'The path, without the slash at its beginning.' }),
      }),
      response: { 200: soldSchema },
    },
    handler: async request => {
      const resource = await findByPath(request.agent.db, `/${request.params['*']}`)
      if (resource === undefined) throw notFound('Resource')
      const receipt = (await request.gate?.before()) as Receipt | undefined
      return { path: resource.path, description: resource.description, receipt: receipt ?? null }
    },
  })
}
