import type { Area } from './rest-row.ts'

/** Areas whose rows must have routes and tests; access belongs to agents. */
export const builtAreas = [
  'agents',
  'browser',
  'calendar',
  'chat',
  'contacts',
  'mcp',
  'payments',
  'schedules',
  'sources',
  'sql',
  'tools',
  'webhooks',
  'workflows',
] as const satisfies readonly Area[]

interface PendingRow {
  marker: string
  reason: string
}

const live = 'Watching a session and taking it over come after acting in it.'

/** Rows of built areas that are not built themselves. A row that has a route or a test must leave this list. */
export const notYetBuilt: readonly PendingRow[] = [
  { marker: '[GET /api/agents/{id}/browser/{sessionId}/live-view]', reason: live },
  { marker: '[POST /api/agents/{id}/browser/{sessionId}/takeover]', reason: live },
  { marker: '[error browser 409]', reason: live },
  { marker: '[limit websocket-heartbeat]', reason: live },
  { marker: '[GET /v1/sessions/cast]', reason: live },
  { marker: '[GET /v1/sessions/logs]', reason: live },
  { marker: '[GET /v1/sessions/pageId]', reason: live },
  { marker: '[GET /v1/sessions/recording]', reason: live },
  { marker: '[event browser.takeover_requested]', reason: live },
]
