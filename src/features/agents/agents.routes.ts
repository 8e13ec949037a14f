import type { AccessFeature, Caller } from '#features/access/access.feature.ts'
import { reachOf } from '#features/access/access.service.ts'
import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import {
  agentChangesSchema,
  agentListQuery,
  agentSchema,
  agentSummarySchema,
  createdAgentSchema,
  deletedAgentSchema,
  newAgentSchema,
  updatedAgentSchema,
} from './agents.schema.ts'
import type { AgentsService } from './agents.service.ts'

export function registerAgentRoutes(
  app: App,
  agents: AgentsService,
  { requireMaker }: Pick<AccessFeature['people'], 'requireMaker'>,
): void {
  const routes = routesBelow(app, '/api/agents', 'Agents')

  routes.list('', {
    name: 'listAgents',
    summary: 'List the agents that the caller can reach',
    access: 'anyone',
    query: agentListQuery,
    rows: 'agents',
    of: agentSummarySchema,
    async handle({ caller, query }) {
      const { rows, meta } = await agents.list(reachOf(caller), query)
      return { rows: rows.map(agent => shownTo(caller, agent)), meta }
    },
  })
  routes.create('', {
    name: 'createAgent',
    summary: 'Create an agent',
    access: 'user',
    body: newAgentSchema,
    answer: createdAgentSchema,
    async handle({ caller, body }) {
      await requireMaker(caller)
      return await agents.create(body, caller.user?.email ?? '')
    },
  })
  routes.get('/:id', {
    name: 'getAgent',
    summary: 'Get an agent with its settings and counts',
    answer: agentSchema,
    handle: async ({ caller, params, agent }) => shownTo(caller, await agents.get(params.id, agent.db)),
  })
  routes.update('/:id', {
    name: 'updateAgent',
    summary: "Update an agent's name, description or status",
    opensAgent: false,
    body: agentChangesSchema,
    answer: updatedAgentSchema,
    current: ({ params }) => agents.findWithSettings(params.id),
    fixed: ['settings'],
    handle: ({ params, body }) => agents.update(params.id, body),
  })
  routes.delete('/:id', {
    name: 'deleteAgent',
    summary: 'Delete an agent with everything that belongs to it',
    access: 'owner',
    opensAgent: false,
    answer: deletedAgentSchema,
    async handle({ params }) {
      await agents.remove(params.id)
      return { success: true, message: 'The agent and all its data were deleted.' }
    },
  })
}

/** Hides the owner's address from the public, which reads "default". */
function shownTo<Shown extends { owner_email: string | null }>({ via }: Caller, agent: Shown): Shown {
  return via === 'none' ? { ...agent, owner_email: null } : agent
}
