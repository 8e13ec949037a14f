import { cursorMeta, listMeta, listQuery, type RestArea, under } from '../rest-row.ts'

const summaryFields = ['id', 'name', 'description', 'status', 'created_at', 'updated_at']

const workflowFields = [
  ...summaryFields,
  ...under('nodes[]', ['id', 'type', 'position.x', 'position.y', 'data']),
  ...under('edges[]', ['id', 'source', 'target']),
]

const executionSummaryFields = ['id', 'workflow_id', 'status', 'started_at', 'completed_at']

export const workflowRows = {
  area: 'workflows',
  errorShape: 'generic',
  rows: [
    {
      id: 'GET /api/agents/{id}/workflows',
      success: 200,
      query: [...listQuery, 'status'],
      responseFields: [...under('workflows[]', summaryFields), ...listMeta],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/workflows',
      success: 201,
      requestFields: ['name', 'description', 'nodes', 'edges', 'status'],
      responseFields: ['id', 'name', 'status', 'created_at'],
      errors: [400],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/workflows/{workflowId}',
      success: 200,
      responseFields: workflowFields,
      conditionalFields: ['edges[].sourceHandle'],
      errors: [404],
      limit: 'general',
    },
    {
      id: 'PUT /api/agents/{id}/workflows/{workflowId}',
      success: 200,
      requestFields: ['name', 'nodes', 'edges', 'status'],
      responseFields: workflowFields,
      conditionalFields: ['edges[].sourceHandle'],
      errors: [400, 404],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/workflows/{workflowId}',
      success: 200,
      responseFields: ['success'],
      errors: [404],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/workflows/execute',
      success: 200,
      requestFields: ['workflow_id', 'input'],
      responseFields: ['execution_id', 'status', 'started_at'],
      errors: [400, 404, 409],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/workflows/executions/{executionId}',
      success: 200,
      responseFields: [...executionSummaryFields, 'input', 'output', 'node_results'],
      conditionalFields: under('node_results[]', ['node_id', 'status', 'duration_ms']),
      errors: [404],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/workflows/executions',
      success: 200,
      query: [...listQuery, 'workflow_id'],
      responseFields: [...under('executions[]', executionSummaryFields), ...listMeta],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'general',
    },
  ],
} as const satisfies RestArea
