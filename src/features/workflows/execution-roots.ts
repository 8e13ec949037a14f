import { parseJson } from '#platform/exact-json.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ExecutionRow } from './executions.repository.ts'
import type { ExecutionOptions } from './lifecycle.service.ts'
import type { WorkflowSummary } from './workflows.schema.ts'

/** The values that all templates of an execution can read. */
export function rootsOf(
  { agentId }: Pick<AgentHandle, 'agentId'>,
  { id, workflow_id, input, cause, options }: ExecutionRow,
  workflow: WorkflowSummary | undefined,
) {
  const { trigger } = parseJson(options) as ExecutionOptions
  return {
    input: parseJson(input),
    execution: { id },
    workflow: { id: workflow_id, name: workflow?.name },
    trigger: { ...parseJson(cause), ...trigger },
    agent: { id: agentId },
  }
}
