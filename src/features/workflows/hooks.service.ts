import { createHash, randomBytes } from 'node:crypto'
import { notFound } from '#platform/errors.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import type { ExecutionsService } from './executions.service.ts'
import { findHooked, replaceHook } from './workflows.repository.ts'
import type { Started } from './workflows.schema.ts'
import type { WorkflowsService } from './workflows.service.ts'
import { triggerOf } from './workflows.service.ts'

interface Dependencies {
  workflows: WorkflowsService
  executions: ExecutionsService
  agentDatabases: AgentDatabases
  baseUrl: string
}

/** Secret addresses that start workflows; only the hash of each is stored. */
export function createHooksService({ workflows, executions, agentDatabases, baseUrl }: Dependencies) {
  async function findStartable(agent: AgentHandle, token: string): Promise<string> {
    const id = await findHooked(agent.db, hashOf(token))
    const workflow = id === undefined ? undefined : await workflows.get(agent, id)
    if (workflow?.status !== 'active' || triggerOf(workflow).event !== 'webhook') throw notFound('Address')
    return workflow.id
  }

  return {
    /** A new address; the former one is void. */
    async create(agent: AgentHandle, id: string): Promise<{ url: string }> {
      await workflows.get(agent, id)
      const token = randomBytes(32).toString('base64url')
      await inTransaction(agent.db, transaction => replaceHook(transaction, id, hashOf(token)))
      return { url: `${baseUrl}/api/agents/${agent.agentId}/hooks/${token}` }
    },

    async remove(agent: AgentHandle, id: string): Promise<void> {
      if (!(await replaceHook(agent.db, id))) throw notFound('Address of the workflow')
    },

    /** Starts the workflow of the address. @throws NOT_FOUND for any other, and while nothing may start it. */
    async call(agentId: string, token: string, body: unknown): Promise<Started> {
      using agent = await agentDatabases.acquire(agentId)
      const workflow_id = await findStartable(agent, token)
      const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
      const input = isObject ? (body as Record<string, unknown>) : { body }
      return await executions.start(agent, {
        workflow_id,
        input,
        cause: { kind: 'webhook' },
        when_busy: 'queue',
      })
    },
  }
}

export type HooksService = ReturnType<typeof createHooksService>

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
