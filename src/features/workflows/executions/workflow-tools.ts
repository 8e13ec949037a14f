import { fromForeignSchema } from '#models/tools/foreign-schema.ts'
import type { Tool, ToolParameters } from '#models/tools/tool.ts'
import { AppError } from '#platform/errors.ts'
import { parseJson } from '#platform/exact-json.ts'
import { causeDepth } from '#platform/jobs/cause-depth.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { listOffered } from '../rows/workflows.repository.ts'
import type { WorkflowSummary } from '../workflows.schema.ts'
import type { ExecutionsService } from './executions.service.ts'

/** Max time that a model waits for a workflow (ms); after that it gets the status `running`. */
const timeoutMs = 60_000
const mostOffered = 1000

/** Offers active workflows to models as tools. */
export function createWorkflowTools(executions: ExecutionsService) {
  async function call(agent: AgentHandle, id: string, input: Record<string, unknown>, signal: AbortSignal) {
    const { execution_id } = await executions.start(agent, {
      workflow_id: id,
      input,
      cause: { kind: 'tool' },
      depth: (causeDepth.getStore() ?? -1) + 1,
      when_busy: 'refuse',
    })
    const ended = await executions.ended(agent, execution_id, timeoutMs, signal)
    if (ended === undefined) return { execution_id, status: 'running' }
    if (ended.status === 'complete') return parseJson(ended.output ?? 'null')
    throw new AppError('TOOL_FAILED', ended.error ?? `The execution ${execution_id} was ${ended.status}.`)
  }

  function offer(agent: AgentHandle, { id, version, tool }: WorkflowSummary): Tool[] {
    if (tool === null) return []
    const { name, description, parameters = {}, requires_approval: requiresApproval = true } = tool
    const schema: ToolParameters = { properties: {}, ...parameters, type: 'object' }
    return [
      {
        name,
        description,
        ...fromForeignSchema(schema),
        requiresApproval,
        egress: () => ({ to: `the workflow ${name}`, carries: 'arguments' }),
        // Its nodes may search, and query the database.
        origin: 'own',
        version: () => `${id}@${version}`,
        execute: (input, signal) => call(agent, id, input, signal),
      },
    ]
  }

  return async (agent: AgentHandle): Promise<Tool[]> =>
    (await listOffered(agent.db, mostOffered)).flatMap(workflow => offer(agent, workflow))
}
