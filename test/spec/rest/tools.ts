import { cursorMeta, listMeta, listQuery, type RestArea, under } from '../rest-row.ts'

const toolFields = ['id', 'name', 'description', 'type', 'configuration', 'isEnabled']

export const toolRows = {
  area: 'tools',
  errorShape: 'generic',
  rows: [
    {
      id: 'GET /api/agents/{id}/tools',
      success: 200,
      query: listQuery,
      responseFields: ['success', ...under('data[]', toolFields), ...listMeta],
      conditionalFields: ['data[].cluster', ...cursorMeta],
      errors: [400],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/tools',
      success: 201,
      requestFields: ['name', 'description', 'type', 'configuration', 'cluster'],
      responseFields: ['success', ...under('data', toolFields)],
      conditionalFields: ['data.cluster'],
      errors: [400],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/tools/import-openapi',
      success: 201,
      requestFields: ['url', 'spec', 'cluster'],
      responseFields: [
        'success',
        ...under('data[]', [
          'id',
          'name',
          'description',
          'type',
          'isEnabled',
          'cluster',
          ...under('configuration', ['baseUrl', 'pathTemplate', 'method', 'pathParams', 'queryParams']),
        ]),
      ],
      errors: [400],
      limit: 'bulk',
    },
    {
      id: 'DELETE /api/agents/{id}/tools?id={toolId}',
      success: 200,
      query: ['id'],
      responseFields: ['success'],
      errors: [400, 404],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/tools/cluster/{clusterName}',
      success: 200,
      responseFields: ['success', 'data.deleted'],
      errors: [404],
      limit: 'general',
    },
  ],
} as const satisfies RestArea
