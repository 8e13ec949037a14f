import type { Area } from './rest-row.ts'

export interface Addition {
  /** Method and path; a last segment `*` stands for everything below. */
  route: `${'GET' | 'POST' | 'DELETE'} /${string}`
  /** The area it is built with; left out where it belongs to the server itself. */
  area?: Area
  why: string
}

/** Routes that the service has although no row of the specification asks for them. */
export const additions = [
  { route: 'GET /healthz', why: 'A supervisor asks whether the process is alive.' },
  { route: 'GET /readyz', why: 'A load balancer asks whether requests can be sent here.' },
  { route: 'GET /metrics', why: 'Prometheus collects figures.' },
  { route: 'GET /openapi.json', why: 'Clients are generated from the description of the API.' },
  { route: 'GET /docs', why: 'A person reads the description of the API.' },
  {
    route: 'GET /docs/*',
    why: 'The reader loads its script and the description from here, not from elsewhere.',
  },
  {
    route: 'GET /api/agents/{id}/mcp/{serverId}',
    area: 'mcp',
    why: 'Whether a server can be reached is asked of one server, too.',
  },
  {
    route: 'POST /api/agents/{id}/mcp/{serverId}/approve',
    area: 'mcp',
    why: 'New and changed tools wait until a person has agreed to them.',
  },
  {
    route: 'POST /api/agents/{id}/workflows/executions/{executionId}/terminate',
    area: 'workflows',
    why: 'The status `terminated` needs a call that brings it about.',
  },
  {
    route: 'GET /api/agents/{id}/calendar/feed.ics',
    area: 'calendar',
    why: 'Calendar programs subscribe to an address that carries its own token.',
  },
  {
    route: 'POST /api/agents/{id}/payment-notifications',
    area: 'payments',
    why: 'Notifications that can be listed must be recordable.',
  },
  {
    route: 'GET /api/agents/{id}/x402/*',
    area: 'payments',
    why: 'An x402 resource with a path of its own is served, with a receipt, below this one.',
  },
  {
    route: 'GET /api/agents/{id}/webhooks',
    area: 'webhooks',
    why: 'What was registered can be seen.',
  },
  {
    route: 'DELETE /api/agents/{id}/webhooks/{webhookId}',
    area: 'webhooks',
    why: 'What was registered can be taken back.',
  },
  {
    route: 'POST /api/agents/{id}/channels/telegram/webhook',
    area: 'webhooks',
    why: 'The first chat channel delivers messages here.',
  },
  {
    route: 'POST /api/agents/{id}/channels/whatsapp/webhook',
    area: 'webhooks',
    why: 'The second chat channel delivers messages here.',
  },
  {
    route: 'GET /api/agents/{id}/channels/whatsapp/webhook',
    area: 'webhooks',
    why: 'The second chat channel proves the address by a GET before it delivers.',
  },
] as const satisfies readonly Addition[]
