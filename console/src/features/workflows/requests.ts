import type { Static } from 'typebox'
import { exact, get, path, post, put, remove } from '#console/api/request.ts'
import type { Agent } from '#console/shell/agent.tsx'
import type {
  Decision,
  Execute,
  Execution,
  ExecutionSummary,
  NewWorkflow,
  nodeResultSchema,
  Retry,
  Started,
  Workflow,
  WorkflowChanges,
  WorkflowSummary,
} from '#features/workflows/workflows.schema.ts'

export type { Execution, ExecutionSummary, Workflow, WorkflowSummary }
export type NodeResult = Static<typeof nodeResultSchema>
export type Definition = Pick<Workflow, 'nodes' | 'edges'>

export const workflowsPath = (agent: Agent) => `${agent.api}/workflows`
/** Paths whose queries show executions. */
export const executionLists = (agent: Agent) => [workflowsPath(agent), `${agent.api}/attention`]
const workflowPath = (agent: Agent, id: string) => `${workflowsPath(agent)}/${path`${id}`}`
const executionPath = (agent: Agent, id: string) => `${workflowsPath(agent)}/executions/${path`${id}`}`

export const listWorkflows = (agent: Agent) =>
  get<{ workflows: WorkflowSummary[] }>(workflowsPath(agent), { sort: 'name', order: 'asc' })
export const listExecutions = (agent: Agent, filters: { workflow_id?: string; status?: string } = {}) =>
  get(`${workflowsPath(agent)}/executions`, filters)
export const getWorkflow = (agent: Agent, id: string) => exact(get<Workflow>(workflowPath(agent, id)))
export const getExecution = (agent: Agent, id: string) => exact(get<Execution>(executionPath(agent, id)))

/** Reads the result of a node with its whole input and output. */
export const getNodeResult = (agent: Agent, id: string, result: Pick<NodeResult, 'node_id' | 'path'>) =>
  exact(
    get<NodeResult>(
      `${executionPath(agent, id)}/nodes/${path`${result.node_id}`}`,
      result.path === '' ? {} : { path: result.path },
    ),
  )

export const createWorkflow = (agent: Agent) => (body: NewWorkflow) =>
  post<Workflow>(workflowsPath(agent), { body })
/** `body` can be unchecked JSON of a person: the server checks it. */
export const changeWorkflow = (agent: Agent, id: string) => (body: WorkflowChanges | object) =>
  exact(put<Workflow>(workflowPath(agent, id), { body }))
export const deleteWorkflow = (agent: Agent) => (id: string) => remove(workflowPath(agent, id))

export const startWorkflow = (agent: Agent) => (body: Execute) =>
  post<Started>(`${workflowsPath(agent)}/execute`, { body })
export const retryExecution = (agent: Agent, id: string) => (body: Retry) =>
  post<Started>(`${executionPath(agent, id)}/retry`, { body })
export const terminateExecution = (agent: Agent, id: string) => () =>
  post<ExecutionSummary>(`${executionPath(agent, id)}/terminate`)
export const decideNode =
  (agent: Agent, id: string) =>
  ({ node, ...body }: Decision & { node: string }) =>
    post(`${executionPath(agent, id)}/nodes/${path`${node}`}/resume`, { body })
