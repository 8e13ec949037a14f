/**
 * Who may call which route: the least that a caller must be. Each route of the service has its line here. Behind it stand
 * `+chat` if it is also open to the role `chat`, and `-keys` if no API key may call it.
 */
export type Least = keyof typeof lines

/** Routes on an agent: a permission on it decides. */
export const agentLevels = ['viewer', 'chatter', 'admin', 'owner'] as const

const lines = {
  /** Everyone; no proof of a caller is looked at. */
  open: `
    GET /sign-in
    GET /api/auth/callback
    GET /api/auth/sign-in
    GET /a/*
    GET /theme.js
    GET /icon.svg
    GET /assets/*
    GET /replay/assets/:name
    GET /replay/:sessionId
    GET /replay/:sessionId/events
    GET /v1/sessions/cast
    GET /v1/sessions/logs
    GET /v1/sessions/pageId
    GET /v1/sessions/recording
    GET /live/assets/:name
    GET /live/:sessionId
    GET /
    GET /healthz
    GET /readyz
    GET /metrics
    GET /openapi.json
    GET /docs
    GET /docs/*
  `,
  /** Senders who prove themselves in another way, such as by a signature; a bad token or key is refused before that. */
  proven: `
    GET /api/agents/:id/channels/whatsapp/webhook
    GET /api/agents/:id/calendar/feed.ics
    POST /api/agents/:id/provider/webhook
    POST /api/agents/:id/channels/telegram/webhook
    POST /api/agents/:id/channels/whatsapp/webhook
    POST /api/agents/:id/hooks/:token
    GET /api/agents/:id/decisions/:token -keys
    POST /api/agents/:id/decisions/:token -keys
  `,
  /** Everyone, but a bad token or key is refused. */
  anyone: `
    POST /api/auth/sign-out
    POST /api/auth/link -keys
    GET /api/openai/v1/models/:model
    GET /api/openai/v1/models
    GET /api/auth/agents
    GET /api/auth/me
    GET /api/agents
  `,
  /** A person, or a personal key that is not limited. */
  user: `
    DELETE /api/invitations/:invitationId -keys
    GET /api/invitations -keys
    POST /api/invitations -keys
    DELETE /api/auth/sessions/:sessionId -keys
    DELETE /api/auth/sessions -keys
    GET /api/auth/sessions -keys
    GET /api/audit
    GET /api/auth/keys -keys
    POST /api/auth/keys -keys
    PUT /api/auth/keys/:keyId -keys
    DELETE /api/auth/keys/:keyId -keys
    POST /api/auth/keys/:keyId/rotate -keys
    POST /api/agents
  `,
  viewer: `
    GET /api/agents/:id/attention
    GET /api/agents/:id/events +chat
    GET /api/agents/:id/admins
    GET /api/agents/:id
    GET /api/agents/:id/settings
    GET /api/agents/:id/sql/schema
    GET /api/agents/:id/browser
    GET /api/agents/:id/browser/:sessionId
    GET /api/agents/:id/browser/:sessionId/live-view
    GET /api/agents/:id/browser/profiles
    GET /api/agents/:id/browser/:sessionId/recording
    GET /api/agents/:id/browser/:sessionId/takeover
    GET /api/agents/:id/browser/:sessionId/downloads/:downloadId
    GET /api/agents/:id/contacts
    GET /api/agents/:id/contacts/resolve
    GET /api/agents/:id/contacts/:contactId
    GET /api/agents/:id/contacts/export
    GET /api/agents/:id/sources/search
    GET /api/agents/:id/sources
    GET /api/agents/:id/sources/:sourceId
    GET /api/agents/:id/sources/:sourceId/text
    GET /api/agents/:id/sources/:sourceId/file
    GET /api/agents/:id/mcp
    GET /api/agents/:id/mcp/:serverId
    GET /api/agents/:id/mcp/:serverId/tools
    GET /api/agents/:id/tools
    GET /api/agents/:id/tools/:toolId
    GET /api/agents/:id/tools/cluster/:clusterName/credentials
    GET /api/agents/:id/x402-resources
    GET /api/agents/:id/x402/*
    GET /api/agents/:id/transactions
    GET /api/agents/:id/transactions/summary
    GET /api/agents/:id/transactions/:transactionId
    GET /api/agents/:id/transactions/export
    GET /api/agents/:id/payment-methods
    GET /api/agents/:id/payment-notifications
    GET /api/agents/:id/provider/cards
    GET /api/agents/:id/chat/models +chat
    GET /api/agents/:id/chat/files/:fileId +chat
    GET /api/agents/:id/chat/tools
    GET /api/agents/:id/chat/approvals +chat
    GET /api/agents/:id/chat/conversations +chat
    GET /api/agents/:id/chat/conversations/:conversationId/turn +chat
    GET /api/agents/:id/chat/conversations/:conversationId/export +chat
    GET /api/agents/:id/chat/turns/:turnId/events +chat
    GET /api/agents/:id/chat +chat
    GET /api/agents/:id/mcp/endpoint +chat
    GET /api/agents/:id/mcp/endpoint/mcp +chat
    GET /api/agents/:id/mcp/endpoint/sse +chat
    GET /api/agents/:id/webhooks
    GET /api/agents/:id/webhooks/:webhookId
    GET /api/agents/:id/webhooks/:webhookId/deliveries
    GET /api/agents/:id/channels
    GET /api/agents/:id/workflows
    GET /api/agents/:id/workflows/:workflowId
    GET /api/agents/:id/workflows/executions
    GET /api/agents/:id/workflows/executions/:executionId
    GET /api/agents/:id/workflows/executions/:executionId/nodes/:nodeId
    GET /api/agents/:id/schedules
    GET /api/agents/:id/schedules/:scheduleId
    GET /api/agents/:id/calendar
    GET /api/agents/:id/calendar/:taskId
  `,
  /** What `PUBLIC_ACCESS=chat` leaves beside reading. */
  chatter: `
    POST /api/openai/v1/responses +chat
    POST /api/openai/v1/chat/completions +chat
    POST /api/agents/:id/chat +chat
    POST /api/agents/:id/chat/files +chat
    DELETE /api/agents/:id/chat/files/:fileId +chat
    POST /api/agents/:id/chat/messages/:messageId/regenerate +chat
    POST /api/agents/:id/chat/conversations +chat
    POST /api/agents/:id/chat/turns/:turnId/stop +chat
    PUT /api/agents/:id/chat/conversations/:conversationId +chat
    PUT /api/agents/:id/chat/messages/:messageId/feedback +chat
    POST /api/agents/:id/mcp/endpoint +chat
    POST /api/agents/:id/mcp/endpoint/ +chat
    DELETE /api/agents/:id/mcp/endpoint +chat
    POST /api/agents/:id/mcp/endpoint/mcp +chat
    POST /api/agents/:id/mcp/endpoint/mcp/ +chat
    DELETE /api/agents/:id/mcp/endpoint/mcp +chat
    POST /api/agents/:id/mcp/endpoint/sse +chat
  `,
  admin: `
    GET /api/agents/:id/usage
    GET /api/agents/:id/audit
    GET /api/agents/:id/keys -keys
    POST /api/agents/:id/keys -keys
    PUT /api/agents/:id/keys/:keyId -keys
    DELETE /api/agents/:id/keys/:keyId -keys
    POST /api/agents/:id/keys/:keyId/rotate -keys
    PUT /api/agents/:id
    PUT /api/agents/:id/settings
    POST /api/agents/:id/sql/execute
    POST /api/agents/:id/browser
    DELETE /api/agents/:id/browser
    DELETE /api/agents/:id/browser/profiles/:profileName
    POST /api/agents/:id/browser/:sessionId/takeover
    POST /api/agents/:id/browser/:sessionId/takeover/end
    POST /api/agents/:id/browser/:sessionId/execute
    POST /api/agents/:id/contacts
    PUT /api/agents/:id/contacts/:contactId
    DELETE /api/agents/:id/contacts/:contactId
    POST /api/agents/:id/contacts/:contactId/merge
    POST /api/agents/:id/sources/crawl
    DELETE /api/agents/:id/sources/:sourceId
    POST /api/agents/:id/sources/:sourceId/reindex
    POST /api/agents/:id/sources/:sourceId/refresh
    POST /api/agents/:id/mcp
    POST /api/agents/:id/mcp/:serverId/approve
    DELETE /api/agents/:id/mcp
    POST /api/agents/:id/tools
    PUT /api/agents/:id/tools/:toolId
    POST /api/agents/:id/tools/:toolId/test
    DELETE /api/agents/:id/tools
    DELETE /api/agents/:id/tools/cluster/:clusterName
    PUT /api/agents/:id/tools/cluster/:clusterName/credentials
    POST /api/agents/:id/x402-resources
    DELETE /api/agents/:id/x402-resources/:resourceId
    POST /api/agents/:id/transactions/:transactionId/resolve
    POST /api/agents/:id/payment-methods
    DELETE /api/agents/:id/payment-methods/:methodId
    POST /api/agents/:id/payment-notifications
    POST /api/agents/:id/payment-notifications/:notificationId/match
    POST /api/agents/:id/payment-notifications/:notificationId/unmatch
    POST /api/agents/:id/payment-notifications/:notificationId/record
    POST /api/agents/:id/provider/checkout
    POST /api/agents/:id/provider/charge
    POST /api/agents/:id/provider/refund
    POST /api/agents/:id/chat/approvals/:toolCallId +chat
    POST /api/agents/:id/chat/conversations/import
    DELETE /api/agents/:id/chat/conversations/:conversationId
    DELETE /api/agents/:id/chat
    DELETE /api/agents/:id/chat/messages/:messageId
    POST /api/agents/:id/webhooks
    PUT /api/agents/:id/webhooks/:webhookId
    DELETE /api/agents/:id/webhooks/:webhookId
    POST /api/agents/:id/webhooks/:webhookId/secret
    POST /api/agents/:id/webhooks/:webhookId/test
    POST /api/agents/:id/webhooks/:webhookId/deliveries/:deliveryId/retry
    POST /api/agents/:id/channels/:channel/test
    POST /api/agents/:id/channels/telegram/connect
    POST /api/agents/:id/workflows
    PUT /api/agents/:id/workflows/:workflowId
    DELETE /api/agents/:id/workflows/:workflowId
    POST /api/agents/:id/workflows/:workflowId/hook
    DELETE /api/agents/:id/workflows/:workflowId/hook
    POST /api/agents/:id/workflows/execute
    POST /api/agents/:id/workflows/executions/:executionId/retry
    POST /api/agents/:id/workflows/executions/:executionId/terminate
    POST /api/agents/:id/workflows/executions/:executionId/nodes/:nodeId/resume
    POST /api/agents/:id/schedules
    PUT /api/agents/:id/schedules/:scheduleId
    DELETE /api/agents/:id/schedules/:scheduleId
    POST /api/agents/:id/schedules/:scheduleId/run
    POST /api/agents/:id/calendar
    PUT /api/agents/:id/calendar/:taskId
    DELETE /api/agents/:id/calendar/:taskId
    POST /api/agents/:id/calendar/feed
    DELETE /api/agents/:id/calendar/feed
    POST /api/agents/:id/contacts/import
    POST /api/agents/:id/sources
    PUT /api/agents/:id/sources/:sourceId/file
    POST /api/agents/:id/tools/import-openapi
  `,
  owner: `
    POST /api/agents/:id/admins -keys
    PUT /api/agents/:id/admins/:adminId -keys
    DELETE /api/agents/:id/admins/:adminId -keys
    POST /api/agents/:id/admins/:adminId/sign-out -keys
    DELETE /api/agents/:id
  `,
}

export interface RouteRule {
  /** Method and path. */
  route: string
  least: Least
  isOpenToChat: boolean
  isOpenToKeys: boolean
}

export const routeRules: readonly RouteRule[] = Object.entries(lines).flatMap(([least, text]) =>
  text
    .trim()
    .split(/\n\s*/)
    .map(line => ({
      route: line.replace(/ [+-]\w+/g, ''),
      least: least as Least,
      isOpenToChat: line.includes(' +chat'),
      isOpenToKeys: !line.includes(' -keys'),
    })),
)
