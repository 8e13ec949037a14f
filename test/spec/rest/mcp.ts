import { cursorMeta, listMeta, listQuery, type RestArea, under } from '../rest-row.ts'

const serverFields = ['id', 'name', 'url', 'status', 'created_at']

export const mcpRows = {
  area: 'mcp',
  errorShape: 'generic',
  rows: [
    {
      id: 'GET /api/agents/{id}/mcp',
      success: 200,
      query: listQuery,
      responseFields: [...under('servers[]', serverFields), ...listMeta],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/mcp',
      success: 201,
      requestFields: ['name', 'url', 'auth.type', 'auth.token'],
      responseFields: serverFields,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/mcp?id={serverId}',
      success: 200,
      query: ['id'],
      responseFields: ['success'],
      errors: [400, 404],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/mcp/{serverId}/tools',
      success: 200,
      query: listQuery,
      responseFields: [
        ...under('tools[]', ['name', 'description', 'parameters.type', 'parameters.properties']),
        ...listMeta,
      ],
      conditionalFields: cursorMeta,
      errors: [400, 404],
      limit: 'general',
    },
  ],
} as const satisfies RestArea
