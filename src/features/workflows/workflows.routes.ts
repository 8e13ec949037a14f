import type { App } from '#platform/http/app.ts'
import { routesBelow } from '#platform/http/routes.ts'
import type { WorkflowsService } from './definitions/workflows.service.ts'
import type { HooksService } from './hooks/hooks.service.ts'
import {
  hookSchema,
  newWorkflowSchema,
  workflowChangesSchema,
  workflowListQuery,
  workflowSchema,
  workflowSummarySchema,
} from './workflows.schema.ts'

export function registerWorkflowRoutes(app: App, workflows: WorkflowsService, hooks: HooksService): void {
  const routes = routesBelow(app, '/api/agents/:id/workflows', 'Workflows')

  routes.list('', {
    name: 'listWorkflows',
    summary: 'List workflows, the latest first',
    query: workflowListQuery,
    rows: 'workflows',
    of: workflowSummarySchema,
    handle: ({ agent, query }) => workflows.list(agent, query),
  })
  routes.get('/:workflowId', {
    name: 'getWorkflow',
    summary: 'Get a workflow with its nodes and edges',
    answer: workflowSchema,
    handle: ({ agent, params }) => workflows.get(agent, params.workflowId),
  })
  routes.create('', {
    name: 'createWorkflow',
    summary: 'Create a workflow',
    body: newWorkflowSchema,
    answer: workflowSchema,
    handle: ({ agent, body }) => workflows.create(agent, body),
  })
  routes.update('/:workflowId', {
    name: 'updateWorkflow',
    summary: 'Update a workflow',
    description: 'Running executions keep the version that they started with.',
    body: workflowChangesSchema,
    answer: workflowSchema,
    handle: ({ agent, params, body }) => workflows.update(agent, params.workflowId, body),
  })
  routes.remove('/:workflowId', {
    name: 'deleteWorkflow',
    summary: 'Delete a workflow and terminate its executions',
    handle: ({ agent, params }) => workflows.remove(agent, params.workflowId),
  })
  registerHooks(app, hooks)
}

function registerHooks(app: App, hooks: HooksService): void {
  const routes = routesBelow(app, '/api/agents/:id', 'Workflows')

  routes.post('/workflows/:workflowId/hook', {
    name: 'createWorkflowHook',
    audit: 'refusals',
    summary: 'Create the secret address that starts a workflow',
    description: 'The address that was created before stops working.',
    answer: hookSchema,
    handle: ({ agent, params }) => hooks.create(agent, params.workflowId),
  })
  routes.remove('/workflows/:workflowId/hook', {
    name: 'deleteWorkflowHook',
    summary: 'Delete the secret address of a workflow',
    handle: ({ agent, params }) => hooks.remove(agent, params.workflowId),
  })
}
