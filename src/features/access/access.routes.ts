import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { listParameters } from '#platform/http/lists/list-query.ts'
import { successSchema } from '#platform/http/responses/answers.ts'
import { adminListSchema, adminSchema, newAdminSchema, ownAgentListSchema } from './access.schema.ts'
import type { AccessService } from './access.service.ts'

const agentPath = Type.Object({ id: Type.String() })
const entries = { area: 'generic', limit: 'general', opensAgent: false } as const

export function registerAccessRoutes(app: App, access: AccessService): void {
  app.route({
    method: 'GET',
    url: '/api/auth/agents',
    config: { area: 'generic', access: 'anyone', limit: 'general', operationId: 'listMyAgents' },
    schema: {
      summary: "The caller's agents with the role on each",
      tags: ['Agents'],
      querystring: Type.Object(listParameters),
      response: { 200: ownAgentListSchema },
    },
    handler: async request => {
      const { rows, meta } = await access.listOwnAgents(request, request.query)
      return { agents: rows, meta }
    },
  })

  app.route({
    method: 'GET',
    url: '/api/agents/:id/admins',
    config: { ...entries, access: 'viewer', operationId: 'listAdmins' },
    schema: {
      summary: 'Who has a role on the agent',
      tags: ['Agents'],
      params: agentPath,
      querystring: Type.Object(listParameters),
      response: { 200: adminListSchema },
    },
    handler: async request => {
      const { rows, meta } = await access.listAdmins(request.params.id, request.query)
      return { admins: rows, meta }
    },
  })

  app.route({
    method: 'POST',
    url: '/api/agents/:id/admins',
    config: { ...entries, access: 'owner', operationId: 'addAdmin' },
    schema: {
      summary: 'Give somebody a role on the agent',
      tags: ['Agents'],
      params: agentPath,
      body: newAdminSchema,
      response: { 201: adminSchema },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await access.addAdmin(request.params.id, request.body)),
  })

  app.route({
    method: 'DELETE',
    url: '/api/agents/:id/admins/:adminId',
    config: { ...entries, access: 'owner', operationId: 'removeAdmin' },
    schema: {
      summary: "Take somebody's role away",
      tags: ['Agents'],
      params: Type.Object({ id: Type.String(), adminId: Type.String() }),
      response: { 200: successSchema },
    },
    handler: async request => {
      await access.removeAdmin(request.params.id, request.params.adminId)
      return { success: true }
    },
  })
}
