import type { FastifyRequest } from 'fastify'
import { type AccessService, reachOf } from '#features/access/access.service.ts'
import type { AgentsService } from '#features/agents/agents.service.ts'
import { AccessDenied, AppError } from '#platform/errors.ts'

type Agent = Pick<Awaited<ReturnType<AgentsService['find']>>, 'id' | 'name' | 'created_at'>

/** Lists agents as the models that a caller may chat with. */
export function createModels({ agents, access }: { agents: AgentsService; access: AccessService }) {
  async function mayChat(request: FastifyRequest, id: string): Promise<boolean> {
    try {
      return (await access.permissionOn(id, request)) !== 'viewer'
    } catch (error) {
      if (error instanceof AccessDenied || (error instanceof AppError && error.fault === 'user')) return false
      throw error
    }
  }

  return {
    /** Lists at most the 1,000 oldest. */
    async list(request: FastifyRequest) {
      const { rows } = await agents.list(reachOf(request.caller), { limit: 1000, status: ['active'] })
      const mine = await Promise.all(rows.map(({ id }) => mayChat(request, id)))
      return { object: 'list' as const, data: rows.filter((_, at) => mine[at]).map(modelOf) }
    },

    /** Finds the agent by its id, or else by its name, among those that the caller may chat with. Throws NOT_FOUND. */
    async find(request: FastifyRequest, model: string): Promise<Agent> {
      if (await mayChat(request, model)) return await agents.find(model)
      const agent = await agents.findNamed(model)
      if (agent !== undefined && (await mayChat(request, agent.id))) return agent
      const advice = 'GET models lists those that you may chat with.'
      throw new AppError(
        'NOT_FOUND',
        `The model "${model}" does not exist, or is not open to you. ${advice}`,
        {
          details: { code: 'model_not_found', field: 'model' },
        },
      )
    },
  }
}

export function modelOf({ name, created_at }: Agent) {
  const created = Math.floor(Date.parse(created_at) / 1000)
  return { id: name, object: 'model' as const, created, owned_by: 'agentstead' }
}
