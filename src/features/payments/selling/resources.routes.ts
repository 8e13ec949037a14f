import { Type } from 'typebox'
import { notFound } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import { listParameters } from '#platform/http/lists/list-query.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import { agentPath, changing, reading, tags } from '../routes.ts'
import { findByPath } from './resources.repository.ts'
import type { Receipt } from './resources.schema.ts'
import { newResourceSchema, resourceListSchema, resourceSchema, soldSchema } from './resources.schema.ts'
import type { ResourcesService } from './resources.service.ts'

const url = '/api/agents/:id/x402-resources'

export function registerResourceRoutes(app: App, resources: ResourcesService): void {
  app.route({
    method: 'GET',
    url,
    config: { ...reading, operationId: 'listPaidResources' },
    schema: {
      summary: 'What the agent sells',
      tags,
      params: agentPath,
      querystring: Type.Object(listParameters),
      response: { 200: resourceListSchema },
    },
    handler: async request => {
      const { rows, meta } = await resources.list(request.agent, request.query)
      return { resources: rows, meta }
    },
  })

  app.route({
    method: 'POST',
    url,
    config: { ...changing, operationId: 'sellPaidResource' },
    schema: {
      summary: 'Have callers without a role pay for a call, or for a path of its own',
      tags,
      params: agentPath,
      body: newResourceSchema,
      response: { 201: resourceSchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await resources.create(request.agent, request.body)),
  })

  app.route({
    method: 'DELETE',
    url: `${url}/:resourceId`,
    config: { ...changing, operationId: 'deletePaidResource' },
    schema: {
      summary: 'Sell this no more',
      tags,
      params: Type.Object({ ...agentPath.properties, resourceId: Type.String() }),
      response: { 200: successSchema },
    },
    handler: async request => {
      await resources.remove(request.agent, request.params.resourceId)
      return { success: true }
    },
  })

  registerOwnPaths(app)
}

function registerOwnPaths(app: App): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id/x402/*',
    config: { ...reading, soldAs: '*', operationId: 'buyPaidResource' },
    schema: {
      summary: 'A path that the agent sells, with the receipt',
      tags,
      params: Type.Object({
        ...agentPath.properties,
        '*': Type.String({ description: 'The path, without the slash at its beginning.' }),
      }),
      response: { 200: soldSchema },
    },
    handler: async request => {
      const resource = await findByPath(request.agent.db, `/${request.params['*']}`)
      if (resource === undefined) throw notFound('Resource')
      const receipt = (await request.purchase?.settle()) as Receipt | undefined
      return { path: resource.path, description: resource.description, receipt: receipt ?? null }
    },
  })
}
