import { cursorMeta, listMeta, listQuery, type RestArea, under } from '../rest-row.ts'

const summaryFields = [
  'id',
  'name',
  'type',
  'cron_expression',
  'next_run',
  'last_run',
  'callback_type',
  'callback_id',
  'status',
]

const scheduleFields = [...summaryFields, 'delay_seconds', 'created_at']

export const scheduleRows = {
  area: 'schedules',
  errorShape: 'generic',
  rows: [
    {
      id: 'GET /api/agents/{id}/schedules',
      success: 200,
      query: [...listQuery, 'status', 'type'],
      responseFields: [...under('schedules[]', summaryFields), ...listMeta],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/schedules',
      success: 201,
      requestFields: [
        'name',
        'type',
        'cron_expression',
        'next_run',
        'delay_seconds',
        'callback_type',
        'callback_id',
        'callback_data',
        'timezone',
        'status',
      ],
      responseFields: ['id', 'name', 'type', 'cron_expression', 'next_run', 'status', 'created_at'],
      errors: [400],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/schedules/{scheduleId}',
      success: 200,
      responseFields: [...scheduleFields, 'executions'],
      conditionalFields: [
        'callback_data',
        'timezone',
        ...under('executions[]', ['id', 'executed_at', 'status']),
      ],
      errors: [404],
      limit: 'general',
    },
    {
      id: 'PUT /api/agents/{id}/schedules/{scheduleId}',
      success: 200,
      requestFields: ['name', 'cron_expression', 'status'],
      responseFields: scheduleFields,
      conditionalFields: ['callback_data', 'timezone'],
      errors: [400, 404],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/schedules/{scheduleId}',
      success: 200,
      responseFields: ['success'],
      errors: [404],
      limit: 'general',
    },
  ],
} as const satisfies RestArea
