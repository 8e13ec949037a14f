import type { Area } from './rest-row.ts'

interface LimitRow {
  name: string
  /** `shared` where it binds every area. */
  area: Area | 'shared'
  values: Readonly<Record<string, number | readonly string[]>>
}

/** Every row of the limits table. Request budgets count per minute and address. */
export const limits = [
  { name: 'rate-limit-general', area: 'shared', values: { requests: 100 } },
  { name: 'rate-limit-chat', area: 'chat', values: { requests: 20 } },
  { name: 'rate-limit-browser', area: 'browser', values: { requests: 50 } },
  { name: 'rate-limit-bulk', area: 'shared', values: { requests: 10 } },
  {
    name: 'rate-limit-headers',
    area: 'shared',
    // The reset is a Unix time in seconds.
    values: { headers: ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] },
  },
  { name: 'rate-limit-exceeded', area: 'shared', values: { status: 429 } },
  { name: 'tool-iterations', area: 'chat', values: { perMessage: 8 } },
  { name: 'conversations', area: 'chat', values: { perAgent: 50 } },
  { name: 'page-size', area: 'shared', values: { list: 50, search: 10 } },
  { name: 'crawl-pages', area: 'sources', values: { default: 50, maximum: 50 } },
  { name: 'crawl-depth', area: 'sources', values: { default: 3, maximum: 5 } },
  { name: 'agent-description', area: 'agents', values: { characters: 500 } },
  { name: 'context-budget', area: 'chat', values: { charactersPerToken: 4, reservedTokens: 20_000 } },
  { name: 'websocket-heartbeat', area: 'browser', values: { seconds: 30 } },
] as const satisfies readonly LimitRow[]

export type LimitName = (typeof limits)[number]['name']
