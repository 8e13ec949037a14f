import { Type } from 'typebox'
import { AccessDenied } from '#platform/errors.ts'
import type { App } from '#platform/http/app.ts'
import {
  agentChangesSchema,
  agentListQuery,
  agentListSchema,
  agentSchema,
  createdAgentSchema,
  deletedAgentSchema,
  newAgentSchema,
  updatedAgentSchema,
} from './agents.schema.ts'
import type { AgentsService } from './agents.service.ts'

const agentPath = Type.Object({ id: Type.String() })

export function registerAgentRoutes(app: App, agents: AgentsService): void {
  registerCollection(app, agents)
  registerOne(app, agents)
}

function registerCollection(app: App, agents: AgentsService): void {
  app.route({
    method: 'GET',
    url: '/api/agents',
    config: { area: 'generic', access: 'anyone', limit: 'general', operationId: 'listAgents' },
    schema: {
      summary: 'The agents that the caller can reach',
      tags: ['Agents'],
      querystring: agentListQuery,
      response: { 200: agentListSchema },
    },
    handler: async request => {
      const { rows, meta } = await agents.list(request.user?.email, request.query)
      return { agents: rows, meta }
    },
  })

  app.route({
    method: 'POST',
    url: '/api/agents',
    config: { area: 'generic', access: 'user', limit: 'general', operationId: 'createAgent' },
    schema: {
      summary: 'Create an agent',
      tags: ['Agents'],
      body: newAgentSchema,
      response: { 201: createdAgentSchema },
    },
    handler: async (request, reply) => {
      if (request.user === undefined) throw new AccessDenied('Access denied: this needs a user.')
      return reply.code(201).send(await agents.create(request.body, request.user.email))
    },
  })
}

function registerOne(app: App, agents: AgentsService): void {
  app.route({
    method: 'GET',
    url: '/api/agents/:id',
    config: { area: 'generic', access: 'viewer', limit: 'general', operationId: 'getAgent' },
    schema: {
      summary: 'An agent with its settings and counts',
      tags: ['Agents'],
      params: agentPath,
      response: { 200: agentSchema },
    },
    handler: request => agents.get(request.params.id, request.agent.db),
  })

  app.route({
    method: 'PUT',
    url: '/api/agents/:id',
    config: {
      area: 'generic',
      access: 'admin',
      limit: 'general',
      opensAgent: false,
      operationId: 'updateAgent',
    },
    schema: {
      summary: "Change an agent's name, description or status",
      tags: ['Agents'],
      params: agentPath,
      body: agentChangesSchema,
      response: { 200: updatedAgentSchema },
    },
    handler: request => agents.update(request.params.id, request.body),
  })

  app.route({
    method: 'DELETE',
    url: '/api/agents/:id',
    config: {
      area: 'generic',
      access: 'owner',
      limit: 'general',
      opensAgent: false,
      operationId: 'deleteAgent',
    },
    schema: {
      summary: 'Delete an agent with everything that belongs to it',
      tags: ['Agents'],
      params: agentPath,
      response: { 200: deletedAgentSchema },
    },
    handler: async request => {
      await agents.remove(request.params.id)
      return { success: true, message: 'The agent and all its data were deleted.' }
    },
  })
}
