import { createHash, randomBytes } from 'node:crypto'
import { AppError, notFound } from '#platform/errors.ts'
import { createTemplates } from '#platform/templates/resolve-templates.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentDatabases, AgentHandle } from '#storage/agent-databases.ts'
import { requireWorkflow, triggerOf } from '../definitions/workflows.service.ts'
import { readGraph } from '../engine/graph.ts'
import { resultsOf } from '../engine/plan.ts'
import { scopeOf } from '../engine/scope.ts'
import { rootsOf } from '../executions/execution-roots.ts'
import type { ExecutionsService } from '../executions/executions.service.ts'
import type { HookRequest } from '../executions/lifecycle.service.ts'
import { type HookAnswer, hookOutput, resolveHookResponse } from '../nodes/hook-response.ts'
import type { ExecutionRow } from '../rows/executions.repository.ts'
import { readResults } from '../rows/node-results.repository.ts'
import { findHooked, findVersion, setHook } from '../rows/workflows.repository.ts'

/** Max time that a caller waits for the end of an execution (ms). */
const waitMs = 60_000

interface Dependencies {
  executions: ExecutionsService
  agentDatabases: AgentDatabases
  baseUrl: string
}

/** Secret addresses that start workflows; only the hash of each is stored. */
export function createHooksService({ executions, agentDatabases, baseUrl }: Dependencies) {
  return {
    /** Creates a new address and revokes the former one. */
    async create({ agentId, db }: AgentHandle, id: string): Promise<{ url: string }> {
      const token = randomBytes(32).toString('base64url')
      if (!(await inTransaction(db, transaction => setHook(transaction, id, hashOf(token)))))
        throw notFound('Workflow')
      return { url: `${baseUrl}/api/agents/${agentId}/hooks/${token}` }
    },

    async remove({ db }: AgentHandle, id: string): Promise<void> {
      if (!(await inTransaction(db, transaction => setHook(transaction, id, null))))
        throw notFound('Address of the workflow')
    },

    /**
     * Starts the workflow of the address, and waits for its end if the trigger requires it.
     * @param client aborts the wait, not the execution.
     * @throws NOT_FOUND for any other address, or if nothing may start the workflow; WORKFLOW_FAILED
     */
    async call(agentId: string, token: string, { input, trigger }: Call, client: AbortSignal) {
      using agent = await agentDatabases.acquireUnproven(agentId)
      const id = agent && (await findHooked(agent.db, hashOf(token)))
      const found = agent && id !== undefined ? await requireWorkflow(agent.db, id) : undefined
      const { event, respond } = triggerOf(found?.version ?? { nodes: [] })
      if (agent === undefined || found?.workflow.status !== 'active' || event !== 'webhook')
        throw notFound('Address')
      const isAwaited = respond === 'at_end'
      using _place = isAwaited ? executions.reserveWait(agentId) : undefined
      const started = await executions.start(agent, {
        workflow_id: found.workflow.id,
        input,
        cause: { kind: 'webhook' },
        when_busy: 'queue',
        options: { trigger },
      })
      if (!isAwaited) return { ...started, isAccepted: false }
      const ended = await executions.ended(agent, started.execution_id, waitMs, client)
      return ended === undefined ? { ...started, isAccepted: true } : await answerOf(agent, ended)
    },
  }
}

interface Call {
  input: Record<string, unknown>
  trigger: HookRequest
}

/** @throws WORKFLOW_FAILED with the execution's id; only readers of the execution see the reason. */
async function answerOf(agent: AgentHandle, execution: ExecutionRow): Promise<HookAnswer> {
  const { id, workflow_id, version, status, output } = execution
  const failed = (issue: string) =>
    new AppError('WORKFLOW_FAILED', `The workflow ${issue}. See its execution ${id}.`)
  if (status === 'terminated') throw failed('was terminated')
  if (status !== 'complete') throw failed('ended in an error')
  const definition = await findVersion(agent.db, workflow_id, version)
  const trigger = definition?.nodes.find(({ type }) => type === 'trigger')
  const { response } = triggerOf(definition ?? { nodes: [] })
  if (response === undefined || definition === undefined || trigger === undefined)
    return hookOutput(output ?? 'null')
  const { graph } = readGraph(definition)
  const results = resultsOf(await readResults(agent.db, id))
  const roots = rootsOf(agent, execution)
  const now = execution.completed_at
  // The empty id is that of a node that has not begun, so the templates can read all results.
  const answering = { ...trigger, id: '' }
  const templates = createTemplates(scopeOf({ node: answering, path: '' }, graph, results, { ...roots, now }))
  return await resolveHookResponse(response, templates).catch(error => {
    if (!(error instanceof AppError)) throw error
    throw failed(`has an answer that can't be sent (${error.message})`)
  })
}

export type HooksService = ReturnType<typeof createHooksService>
export type HookResult = Awaited<ReturnType<HooksService['call']>>

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
