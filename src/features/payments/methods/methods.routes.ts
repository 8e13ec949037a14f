import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { listParameters } from '#platform/http/lists/list-query.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import { agentPath, changing, reading, tags } from '../routes.ts'
import { methodListSchema, methodSchema, newMethodSchema } from './methods.schema.ts'
import type { MethodsService } from './methods.service.ts'

const url = '/api/agents/:id/payment-methods'

export function registerMethodRoutes(app: App, methods: MethodsService): void {
  app.route({
    method: 'GET',
    url,
    config: { ...reading, operationId: 'listPaymentMethods' },
    schema: {
      summary: 'How the agent can be paid',
      tags,
      params: agentPath,
      querystring: Type.Object(listParameters),
      response: { 200: methodListSchema },
    },
    handler: async request => {
      const { rows, meta } = await methods.list(request.agent, request.query, request.isAdmin)
      return { methods: rows, meta }
    },
  })

  app.route({
    method: 'POST',
    url,
    config: { ...changing, operationId: 'addPaymentMethod' },
    schema: {
      summary: 'Add a way to be paid',
      tags,
      params: agentPath,
      body: newMethodSchema,
      response: { 201: methodSchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await methods.create(request.agent, request.body)),
  })

  app.route({
    method: 'DELETE',
    url: `${url}/:methodId`,
    config: { ...changing, operationId: 'deletePaymentMethod' },
    schema: {
      summary: 'Remove a way to be paid',
      tags,
      params: Type.Object({ ...agentPath.properties, methodId: Type.String() }),
      response: { 200: successSchema },
    },
    handler: async request => {
      await methods.remove(request.agent, request.params.methodId)
      return { success: true }
    },
  })
}
