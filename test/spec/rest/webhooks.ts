import type { RestArea } from '../rest-row.ts'

export const webhookRows = {
  area: 'webhooks',
  errorShape: 'generic',
  rows: [
    {
      id: 'POST /api/agents/{id}/webhooks',
      success: 201,
      requestFields: ['url', 'events'],
      // This answer alone carries the signing secret.
      responseFields: ['id', 'url', 'events', 'secret', 'created_at'],
      errors: [400],
      limit: 'general',
    },
  ],
} as const satisfies RestArea
