import { cursorMeta, listMeta, listQuery, type RestArea, under } from '../rest-row.ts'

export const browserRows = {
  area: 'browser',
  errorShape: 'generic',
  rows: [
    {
      id: 'GET /api/agents/{id}/browser',
      success: 200,
      query: listQuery,
      responseFields: [
        ...under('sessions[]', [
          'id',
          'status',
          'headless',
          'viewport.width',
          'viewport.height',
          'created_at',
          'last_activity',
        ]),
        ...listMeta,
      ],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'browser',
    },
    {
      id: 'POST /api/agents/{id}/browser',
      success: 201,
      requestFields: ['headless', 'viewport.width', 'viewport.height', 'user_agent'],
      responseFields: ['id', 'status', 'live_view_url', 'created_at'],
      errors: [400, 429, 500],
      limit: 'browser',
    },
    {
      id: 'DELETE /api/agents/{id}/browser?id={sessionId}',
      success: 200,
      query: ['id'],
      responseFields: ['success'],
      errors: [400, 404],
      limit: 'browser',
    },
    {
      id: 'POST /api/agents/{id}/browser/{sessionId}/execute',
      success: 200,
      // One action, whose own fields are listed with the browser actions, or a list of them.
      requestFields: ['action', 'actions'],
      responseFields: ['success'],
      conditionalFields: [
        'result',
        ...under('results[]', ['action', 'success', 'duration_ms', 'error']),
        'total_duration_ms',
      ],
      errors: [400, 404, 408, 409, 500],
      limit: 'browser',
    },
    {
      id: 'GET /api/agents/{id}/browser/{sessionId}/live-view',
      success: 200,
      responseFields: ['url', 'expires_at'],
      errors: [404],
      limit: 'browser',
    },
    {
      id: 'POST /api/agents/{id}/browser/{sessionId}/takeover',
      success: 201,
      requestFields: ['reason', 'timeout'],
      responseFields: ['takeover_id', 'status', 'takeover_url', 'expires_at'],
      errors: [400, 404],
      limit: 'browser',
    },
  ],
} as const satisfies RestArea
