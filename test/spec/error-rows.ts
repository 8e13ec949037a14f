import type { Area } from './rest-row.ts'

/** `shared`: what a route of any area can answer. */
type ErrorArea = Area | 'shared'

interface ErrorRow {
  area: ErrorArea
  status: number
  condition: string
  /** `specification`: a row of its error tables. `decision`: settled where those are silent. */
  origin: 'specification' | 'decision'
}

/** Every status that the service answers with; 204 only to a CORS preflight. */
export const statusCodes = [
  200, 201, 204, 400, 401, 402, 403, 404, 408, 409, 413, 415, 416, 422, 429, 500, 503, 507,
] as const

export const errorRows = [
  { area: 'agents', status: 400, condition: 'agent data is invalid', origin: 'specification' },
  {
    area: 'agents',
    status: 403,
    condition: 'the caller may not do this, such as delete without being an owner',
    origin: 'specification',
  },
  { area: 'agents', status: 404, condition: 'no such agent', origin: 'specification' },
  { area: 'agents', status: 409, condition: 'the name is taken', origin: 'specification' },

  { area: 'chat', status: 400, condition: 'the message or a parameter is invalid', origin: 'specification' },
  { area: 'chat', status: 404, condition: 'no such conversation or message', origin: 'specification' },
  { area: 'chat', status: 409, condition: 'a request holds the conversation', origin: 'specification' },
  { area: 'chat', status: 429, condition: 'too many requests in this minute', origin: 'specification' },
  { area: 'chat', status: 500, condition: 'the model service failed', origin: 'specification' },

  { area: 'sources', status: 400, condition: 'source data is invalid', origin: 'specification' },
  { area: 'sources', status: 404, condition: 'no such source', origin: 'specification' },
  { area: 'sources', status: 413, condition: 'the file exceeds the upload limit', origin: 'specification' },
  {
    area: 'sources',
    status: 415,
    condition: 'no reader for files of this extension',
    origin: 'specification',
  },
  { area: 'sources', status: 409, condition: 'the source is still being worked on', origin: 'decision' },

  { area: 'contacts', status: 400, condition: 'contact data is invalid', origin: 'specification' },
  { area: 'contacts', status: 404, condition: 'no such contact', origin: 'specification' },
  { area: 'contacts', status: 409, condition: 'another contact has this identity', origin: 'specification' },

  { area: 'schedules', status: 400, condition: 'schedule data is invalid', origin: 'specification' },
  { area: 'schedules', status: 404, condition: 'no such schedule', origin: 'specification' },

  { area: 'workflows', status: 400, condition: 'workflow data is invalid', origin: 'specification' },
  { area: 'workflows', status: 404, condition: 'no such workflow', origin: 'specification' },
  { area: 'workflows', status: 409, condition: 'an execution is under way', origin: 'specification' },

  { area: 'sql', status: 400, condition: 'the query is invalid', origin: 'specification' },
  { area: 'sql', status: 403, condition: 'statements of this kind are refused', origin: 'specification' },
  { area: 'sql', status: 500, condition: 'the statement failed while it ran', origin: 'specification' },

  { area: 'browser', status: 400, condition: 'the action is invalid', origin: 'specification' },
  { area: 'browser', status: 404, condition: 'no such session', origin: 'specification' },
  { area: 'browser', status: 408, condition: 'the action took too long', origin: 'specification' },
  { area: 'browser', status: 500, condition: 'the browser failed', origin: 'specification' },
  { area: 'browser', status: 409, condition: 'a person has taken the session over', origin: 'decision' },
  { area: 'browser', status: 429, condition: 'too many sessions are open', origin: 'decision' },

  { area: 'payments', status: 400, condition: 'the body is invalid or incomplete', origin: 'specification' },
  {
    area: 'payments',
    status: 401,
    condition: 'credentials or a signature are missing or wrong',
    origin: 'specification',
  },
  { area: 'payments', status: 402, condition: 'the resource asks for a payment', origin: 'specification' },
  { area: 'payments', status: 404, condition: 'no such record', origin: 'specification' },
  { area: 'payments', status: 409, condition: 'an equal method or resource exists', origin: 'specification' },
  {
    area: 'payments',
    status: 422,
    condition: 'the provider refused, and the body says why',
    origin: 'specification',
  },
  { area: 'payments', status: 500, condition: 'something failed inside', origin: 'specification' },

  {
    area: 'tools',
    status: 400,
    condition: 'tool data or the imported document is invalid',
    origin: 'decision',
  },
  { area: 'tools', status: 404, condition: 'no such tool or cluster', origin: 'decision' },
  { area: 'mcp', status: 400, condition: 'registration data is invalid', origin: 'decision' },
  { area: 'mcp', status: 404, condition: 'no such server', origin: 'decision' },
  { area: 'calendar', status: 400, condition: 'task data is invalid', origin: 'decision' },
  { area: 'calendar', status: 404, condition: 'no such task', origin: 'decision' },
  { area: 'webhooks', status: 400, condition: 'registration data is invalid', origin: 'decision' },
  { area: 'webhooks', status: 404, condition: 'no such webhook', origin: 'decision' },

  { area: 'shared', status: 400, condition: 'the body is not well-formed JSON', origin: 'decision' },
  { area: 'shared', status: 401, condition: 'the JWT is invalid or expired', origin: 'decision' },
  { area: 'shared', status: 403, condition: 'the caller has no access; plain text', origin: 'specification' },
  { area: 'shared', status: 404, condition: 'no route has this path', origin: 'decision' },
  { area: 'shared', status: 413, condition: 'the JSON body exceeds its limit', origin: 'decision' },
  { area: 'shared', status: 415, condition: 'the route does not take this media type', origin: 'decision' },
  { area: 'shared', status: 429, condition: 'too many requests in this minute', origin: 'specification' },
  { area: 'shared', status: 503, condition: 'too many answers are under way', origin: 'decision' },
  { area: 'shared', status: 507, condition: 'the disk is full, or read-only', origin: 'decision' },
] as const satisfies readonly ErrorRow[]

type KnownErrorRow = (typeof errorRows)[number]

export type KnownErrorArea = KnownErrorRow['area']

export type StatusIn<A extends KnownErrorArea> = Extract<KnownErrorRow, { area: A }>['status']
