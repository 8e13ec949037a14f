import { type RestArea, under } from '../rest-row.ts'

export const sqlRows = {
  area: 'sql',
  errorShape: 'generic',
  rows: [
    {
      id: 'GET /api/agents/{id}/sql/schema',
      success: 200,
      responseFields: under('tables[]', ['name', ...under('columns[]', ['name', 'type', 'nullable'])]),
      errors: [],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/sql/execute',
      success: 200,
      // The literal key `the service` is taken as another name of `params`.
      requestFields: ['query', 'params', 'the service'],
      responseFields: ['columns', 'rows', 'row_count', 'duration_ms'],
      conditionalFields: ['truncated'],
      errors: [400, 403, 500],
      limit: 'general',
    },
  ],
} as const satisfies RestArea
