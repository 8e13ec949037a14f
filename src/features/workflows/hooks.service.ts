import { createHash, randomBytes } from 'node:crypto'
import { notFound } from '#platform/errors.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import type { ExecutionsService } from './executions.service.ts'
import { findHooked, setHook } from './workflows.repository.ts'
import type { Started } from './workflows.schema.ts'
import { requireWorkflow, triggerOf } from './workflows.service.ts'

interface Dependencies {
  executions: ExecutionsService
  agentDatabases: AgentDatabases
  baseUrl: string
}

/** Secret addresses that start workflows; only the hash of each is stored. */
export function createHooksService({ executions, agentDatabases, baseUrl }: Dependencies) {
  return {
    /** A new address; the former one is void. */
    async create({ agentId, db }: AgentHandle, id: string): Promise<{ url: string }> {
      const token = randomBytes(32).toString('base64url')
      if (!(await setHook(db, id, hashOf(token)))) throw notFound('Workflow')
      return { url: `${baseUrl}/api/agents/${agentId}/hooks/${token}` }
    },

    async remove({ db }: AgentHandle, id: string): Promise<void> {
      if (!(await setHook(db, id, null))) throw notFound('Address of the workflow')
    },

    /** Starts the workflow of the address. @throws NOT_FOUND for any other, and while nothing may start it. */
    async call(agentId: string, token: string, body: unknown): Promise<Started> {
      using agent = await agentDatabases.acquireUnproven(agentId)
      const id = agent && (await findHooked(agent.db, hashOf(token)))
      const found = agent && id !== undefined ? await requireWorkflow(agent.db, id) : undefined
      if (
        agent === undefined ||
        found?.workflow.status !== 'active' ||
        triggerOf(found.version).event !== 'webhook'
      )
        throw notFound('Address')
      const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
      const input = isObject ? (body as Record<string, unknown>) : { body }
      const cause = { kind: 'webhook' } as const
      return await executions.start(agent, {
        workflow_id: found.workflow.id,
        input,
        cause,
        when_busy: 'queue',
      })
    },
  }
}

export type HooksService = ReturnType<typeof createHooksService>

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
