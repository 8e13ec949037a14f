import { cursorMeta, listMeta, listQuery, type RestArea, under } from '../rest-row.ts'

const agentFields = ['id', 'name', 'description', 'status', 'owner_email', 'created_at', 'updated_at']

const adminFields = ['id', 'email', 'role', 'created_at']

const settingsFields = [
  'llm_provider',
  'llm_model',
  'llm_temperature',
  'llm_context_window',
  'system_prompt',
  'llm_base_url',
  'embedding_provider',
  'embedding_model',
  'sql_tool_writes',
  'browser_tools',
  'browser_profile',
  'x402_daily_limit',
  'x402_pay_to',
  'x402_payment_limit',
  'x402_approval',
  'issuing_approval',
]

/** Accepted but never answered: a body only says which of them are set. */
const credentialFields = [
  'openai_api_key',
  'anthropic_api_key',
  'google_api_key',
  'openai_compatible_api_key',
  'telegram_bot_token',
  'whatsapp_access_token',
  'whatsapp_phone_number_id',
  'provider_api_key',
  'provider_webhook_secret',
  'x402_wallet_key',
  'smtp_url',
]

export const agentRows = {
  area: 'agents',
  errorShape: 'generic',
  rows: [
    {
      id: 'GET /api/agents',
      success: 200,
      query: [...listQuery, 'status'],
      responseFields: [...under('agents[]', agentFields), ...listMeta],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'POST /api/agents',
      success: 201,
      requestFields: ['name', 'description'],
      responseFields: ['id', 'name', 'description', 'status', 'created_at'],
      errors: [400, 403, 409],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}',
      success: 200,
      responseFields: [
        ...agentFields,
        ...under('settings', ['llm_provider', 'llm_model', 'llm_temperature']),
        ...under('stats', ['workflows', 'schedules', 'contacts', 'messages']),
      ],
      errors: [403, 404],
      limit: 'general',
    },
    {
      id: 'PUT /api/agents/{id}',
      success: 200,
      requestFields: ['name', 'description', 'status'],
      responseFields: ['id', 'name', 'description', 'status', 'updated_at'],
      errors: [400, 403, 404, 409],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}',
      success: 200,
      responseFields: ['success', 'message'],
      errors: [403, 404],
      limit: 'general',
    },
    {
      id: 'PUT /api/agents/{id}/settings',
      success: 200,
      requestFields: [...settingsFields, ...credentialFields],
      responseFields: ['settings', 'credentials'],
      conditionalFields: [...under('settings', settingsFields), ...under('credentials', credentialFields)],
      errors: [400, 403, 404],
      limit: 'general',
    },
    {
      id: 'GET /api/auth/agents',
      success: 200,
      query: listQuery,
      responseFields: [...under('agents[]', ['id', 'name', 'role']), ...listMeta],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/admins',
      success: 200,
      query: listQuery,
      responseFields: [...under('admins[]', adminFields), ...listMeta],
      conditionalFields: cursorMeta,
      errors: [400, 403, 404],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/admins',
      success: 201,
      requestFields: ['email', 'role'],
      responseFields: adminFields,
      errors: [400, 403, 404, 409],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/admins/{adminId}',
      success: 200,
      responseFields: ['success'],
      errors: [403, 404, 409],
      limit: 'general',
    },
  ],
} as const satisfies RestArea
