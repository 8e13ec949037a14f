import { parseJson } from '#platform/exact-json.ts'
import { aliasInCamelCase } from '#platform/templates/resolve-templates.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { ExecutionRow } from '../rows/executions.repository.ts'
import type { Cause } from '../workflows.events.ts'
import type { ExecutionOptions } from './lifecycle.service.ts'

/** Returns the values that all templates of an execution can read. */
export function rootsOf(
  { agentId }: Pick<AgentHandle, 'agentId'>,
  { id, workflow_id, input: inputJson, cause, options }: ExecutionRow,
) {
  const { trigger, workflow_name: name } = parseJson(options) as ExecutionOptions
  const causedBy = parseJson(cause) as Cause
  const input = parseJson(inputJson) as object
  return {
    input: causedBy.kind === 'event' ? aliasInCamelCase(input) : input,
    execution: { id },
    workflow: { id: workflow_id, name },
    trigger: { ...causedBy, ...trigger },
    agent: { id: agentId },
  }
}
