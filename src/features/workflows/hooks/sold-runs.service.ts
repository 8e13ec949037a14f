import type { FastifyRequest } from 'fastify'
import { AppError } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { isOpen } from '../execution-status.ts'
import type { ExecutionsService } from '../executions/executions.service.ts'
import type { StartRequest } from '../executions/lifecycle.service.ts'
import { findByKey, saleKey } from '../rows/executions.repository.ts'
import { findWorkflow } from '../rows/workflows.repository.ts'
import { triggerOfRequest } from './hook-request.ts'

interface Order {
  workflow_id: string
  /** The query is the input; templates read the rest of the request as `trigger`. */
  request: Pick<FastifyRequest, 'method' | 'query' | 'headers'>
  /** The sold path. */
  path: string
  /** The id of the sale, whose request can be repeated; undefined for an unpaid run. */
  sale: string | undefined
  waitMs: number
  /** Aborts the wait, not the execution. */
  client: AbortSignal
  /** Called when all known checks have passed; throws if the run must not begin. */
  pass(): Promise<unknown>
}

export interface SoldRun {
  execution_id: string
  /** JSON; undefined while the workflow runs. */
  output: string | undefined
}

/** Runs workflows whose output is sold. @param gatewayHeader carries the identity gateway's token */
export function createSoldRuns(executions: ExecutionsService, gatewayHeader: string | undefined) {
  return {
    async isActive({ db }: AgentHandle, id: string): Promise<boolean> {
      return (await findWorkflow(db, id))?.status === 'active'
    },

    /**
     * Starts the run, or finds the one that the sale has started, and waits for its end. @throws CONFLICT,
     * NOT_FOUND or OVERLOADED if it can't begin, WORKFLOW_FAILED if it has failed.
     */
    async run(agent: AgentHandle, order: Order): Promise<SoldRun> {
      const { workflow_id, request, path, sale, waitMs, client } = order
      const key = sale && saleKey + sale
      using _place = executions.reserveWait(agent.agentId)
      const plan = await planRun(agent, key)
      const start: StartRequest = {
        workflow_id,
        input: { ...(request.query as Record<string, unknown>) },
        cause: { kind: 'sale', ref: path },
        when_busy: 'queue',
        key: plan.key,
        options: { trigger: triggerOfRequest(request, gatewayHeader) },
      }
      if (plan.found === undefined) await executions.requireStartable(agent, start)
      await order.pass()
      const execution_id = plan.found ?? (await executions.start(agent, start)).execution_id
      const ended = await executions.ended(agent, execution_id, waitMs, client)
      if (ended === undefined) return { execution_id, output: undefined }
      if (ended.status === 'complete') return { execution_id, output: ended.output ?? 'null' }
      const how = ended.status === 'terminated' ? 'was terminated' : 'ended in an error'
      const advice = plan.isLast ? '' : ' Send the same request with the same payment to run it once more.'
      throw new AppError('WORKFLOW_FAILED', `The workflow ${how}, in its execution ${execution_id}.${advice}`)
    },
  }
}

export type SoldRuns = ReturnType<typeof createSoldRuns>

interface Plan {
  /** The existing run. */
  found?: string
  /** The key of the run to start. */
  key?: string
  isLast: boolean
}

/** Plans one run for each sale, and a second one if the first has failed. */
async function planRun({ db }: AgentHandle, key: string | undefined): Promise<Plan> {
  if (key === undefined) return { isLast: true }
  const again = `${key}:again`
  const first = await findByKey(db, key)
  const second = first && (await findByKey(db, again))
  if (second !== undefined) return { found: second.id, isLast: true }
  if (first === undefined) return { key, isLast: false }
  const hasFailed = !isOpen(first.status) && first.status !== 'complete'
  return hasFailed ? { key: again, isLast: true } : { found: first.id, isLast: false }
}
