import { cursorMeta, listMeta, listQuery, type RestArea, under } from '../rest-row.ts'

const writableFields = [
  'name',
  'email',
  'phone',
  'messenger_handle',
  'messenger_number',
  'social_handle',
  'external_id',
  'notes',
  'tags',
  'metadata',
]

const contactFields = ['id', ...writableFields, 'created_at', 'updated_at']

export const contactRows = {
  area: 'contacts',
  errorShape: 'generic',
  rows: [
    {
      id: 'GET /api/agents/{id}/contacts',
      success: 200,
      query: [...listQuery, 'tag'],
      responseFields: [...under('contacts[]', contactFields), ...listMeta],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/contacts',
      success: 201,
      requestFields: writableFields,
      responseFields: ['id', 'name', 'email', 'created_at'],
      errors: [400, 409],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/contacts/{contactId}',
      success: 200,
      responseFields: contactFields,
      errors: [404],
      limit: 'general',
    },
    {
      id: 'PUT /api/agents/{id}/contacts/{contactId}',
      success: 200,
      requestFields: writableFields,
      responseFields: contactFields,
      errors: [400, 404, 409],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/contacts/{contactId}',
      success: 200,
      responseFields: ['success'],
      errors: [404],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/contacts/resolve',
      success: 200,
      query: ['email', 'phone', 'messenger_handle'],
      responseFields: [...under('contact', ['id', 'name', 'email']), 'matched_by'],
      errors: [400, 404],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/contacts/import',
      success: 200,
      requestFields: ['file'],
      responseFields: ['imported', 'updated', 'skipped', 'errors'],
      conditionalFields: under('errors[]', ['line', 'field', 'issue']),
      errors: [400],
      limit: 'bulk',
    },
    {
      id: 'GET /api/agents/{id}/contacts/export',
      success: 200,
      query: ['format'],
      // CSV unless `format` asks for JSON.
      responseFields: [],
      errors: [400],
      limit: 'bulk',
    },
  ],
} as const satisfies RestArea
