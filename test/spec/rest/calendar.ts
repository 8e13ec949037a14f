import { cursorMeta, listMeta, listQuery, type RestArea, under } from '../rest-row.ts'

const writableFields = [
  'title',
  'description',
  'start_time',
  'end_time',
  'recurrence',
  'recurrence_days',
  'workflow_id',
]

const taskFields = ['id', ...writableFields, 'status']

export const calendarRows = {
  area: 'calendar',
  errorShape: 'generic',
  rows: [
    {
      id: 'GET /api/agents/{id}/calendar',
      success: 200,
      query: [...listQuery, 'start', 'end'],
      responseFields: [
        ...under('tasks[]', [
          'id',
          'title',
          'start_time',
          'end_time',
          'recurrence',
          'recurrence_days',
          'workflow_id',
          'status',
        ]),
        ...listMeta,
      ],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/calendar',
      success: 201,
      requestFields: writableFields,
      responseFields: taskFields,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/calendar/{taskId}',
      success: 200,
      responseFields: taskFields,
      errors: [404],
      limit: 'general',
    },
    {
      id: 'PUT /api/agents/{id}/calendar/{taskId}',
      success: 200,
      requestFields: [...writableFields, 'status'],
      responseFields: taskFields,
      errors: [400, 404],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/calendar/{taskId}',
      success: 200,
      responseFields: ['success'],
      errors: [404],
      limit: 'general',
    },
  ],
} as const satisfies RestArea
