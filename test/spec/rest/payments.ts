import { cursorMeta, listMeta, listQuery, type RestArea, under } from '../rest-row.ts'

const transactionFields = [
  'id',
  'type',
  'amount',
  'currency',
  'from',
  'to',
  'reference',
  'source',
  'created_at',
]

const methodFields = ['id', 'type', 'label', 'details', 'created_at']

const notificationFields = [
  'id',
  'gateway',
  'message',
  'status',
  'transaction_id',
  ...under('parsed', ['amount', 'currency', 'from', 'reference']),
  'created_at',
]

const resourceSettings = ['path', 'price', 'currency', 'network', 'description']

const resourceFields = ['id', ...resourceSettings, 'created_at']

export const paymentRows = {
  area: 'payments',
  errorShape: 'payments',
  rows: [
    {
      id: 'GET /api/agents/{id}/transactions',
      success: 200,
      query: [...listQuery, 'type', 'currency'],
      responseFields: [...under('transactions[]', transactionFields), 'total', ...listMeta],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/payment-methods',
      success: 200,
      query: listQuery,
      responseFields: [...under('methods[]', methodFields), ...listMeta],
      conditionalFields: [...under('methods[]', ['details.address', 'details.network']), ...cursorMeta],
      errors: [400],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/payment-methods',
      success: 201,
      requestFields: ['type', 'label', 'details', 'details.address', 'details.network'],
      responseFields: methodFields,
      conditionalFields: ['details.address', 'details.network'],
      errors: [400, 409],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/payment-notifications',
      success: 200,
      query: [...listQuery, 'status'],
      responseFields: [...under('notifications[]', notificationFields), ...listMeta],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/x402-resources',
      success: 201,
      requestFields: resourceSettings,
      responseFields: resourceFields,
      errors: [400, 409],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/x402-resources',
      success: 200,
      query: listQuery,
      responseFields: [...under('resources[]', resourceFields), ...listMeta],
      conditionalFields: cursorMeta,
      errors: [400],
      limit: 'general',
    },
    {
      id: 'DELETE /api/agents/{id}/x402-resources/{resourceId}',
      success: 200,
      responseFields: ['success'],
      errors: [404],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/provider/checkout',
      success: 200,
      requestFields: ['amount', 'currency', 'description', 'success_url', 'cancel_url'],
      responseFields: ['session_id', 'url', 'status'],
      errors: [400, 401, 422, 500],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/provider/charge',
      success: 200,
      requestFields: ['card_id', 'amount', 'currency', 'description'],
      responseFields: ['charge_id', 'amount', 'currency', 'status'],
      errors: [400, 401, 422, 500],
      limit: 'general',
    },
    {
      id: 'GET /api/agents/{id}/provider/cards',
      success: 200,
      query: listQuery,
      responseFields: [
        ...under('cards[]', ['id', 'last4', 'brand', 'status', 'spending_limit', 'created_at']),
        ...listMeta,
      ],
      conditionalFields: cursorMeta,
      errors: [400, 401, 422, 500],
      limit: 'general',
    },
    {
      id: 'POST /api/agents/{id}/provider/webhook',
      success: 200,
      // The body is the provider's event, proven by its signature; the provider reads nothing but the status.
      responseFields: [],
      errors: [400, 401],
      limit: 'general',
    },
  ],
} as const satisfies RestArea
