import { Type } from 'typebox'
import { notFound } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import { deliver, type SoldWorkflows } from './delivery.ts'
import {
  deliveredSchema,
  newResourceSchema,
  type Receipt,
  resourceSchema,
  runningSchema,
} from './resources.schema.ts'
import type { ResourcesService } from './resources.service.ts'

export function registerResourceRoutes(
  app: App,
  resources: ResourcesService,
  workflows: SoldWorkflows,
): void {
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
  registerOwnPaths(app, resources, workflows)
}

function registerOwnPaths(app: App, resources: ResourcesService, workflows: SoldWorkflows): void {
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
      description:
        'The answer is a receipt, or the text or the output of the workflow that the resource delivers; 202 after 60 seconds, or those of `Prefer: wait=…`, while the workflow runs: the same payment then waits for the same run.',
      tags: ['Payments'],
      params: Type.Object({
        id: Type.String(),
        '*': Type.String({ description: 'The path, without the slash at its beginning.' }),
      }),
      response: { 200: { content: deliveredSchema }, 202: runningSchema },
    },
    handler: async (request, reply) => {
      const resource = await resources.find(request.agent, `/${request.params['*']}`)
      if (resource === undefined) throw notFound('Resource')
      const { path, deliver: sold } = resource
      if (sold !== undefined) return await deliver(workflows, { path, deliver: sold }, [request, reply])
      const receipt = (await request.gate?.before()) as Receipt | undefined
      return { path, description: resource.description, receipt: receipt ?? null }
    },
  })
}
