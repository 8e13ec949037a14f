/**
 * The form in which the REST table of the specification is written down.
 * Field lists name the keys of a JSON body; nested keys are dotted and `[]` stands for every element of a list,
 * as in `agents[].owner_email`. A key whose value may be null is listed like any other.
 */
export type Area =
  | 'agents'
  | 'chat'
  | 'tools'
  | 'mcp'
  | 'sources'
  | 'contacts'
  | 'workflows'
  | 'schedules'
  | 'calendar'
  | 'sql'
  | 'browser'
  | 'payments'
  | 'webhooks'

/** Which of the per-address request budgets a call counts against. */
type LimitClass = 'general' | 'chat' | 'browser' | 'bulk'

/** Chat: `{error, code}`. Payments: `{error, code: status}`. Generic: `{error: {code, message, details}}`. */
type ErrorShape = 'chat' | 'payments' | 'generic'

export interface RestRow {
  /** Method and path with `{name}` placeholders; a required query parameter stands where the specification has it. */
  id: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /api/${string}`
  success: 200 | 201
  /** Keys of the JSON or multipart body, optional ones included. */
  requestFields?: readonly string[]
  query?: readonly string[]
  /** Keys that every success body has; empty where the body is not JSON or is left open. */
  responseFields: readonly string[]
  /** Keys that appear only in some success bodies. */
  conditionalFields?: readonly string[]
  /** Statuses out of the area's error table; what any route can answer is listed once, as shared error rows. */
  errors: readonly number[]
  limit: LimitClass
}

/** The rows of one area, with what they have in common. */
export interface RestArea {
  area: Area
  errorShape: ErrorShape
  rows: readonly RestRow[]
}

/** What every list accepts. */
export const listQuery = ['limit', 'offset', 'search', 'sort', 'order', 'from', 'to', 'cursor'] as const

/** What every list adds beside its own key. */
export const listMeta = ['meta.total', 'meta.limit', 'meta.offset'] as const

/** What a list adds when it is paged by cursor. */
export const cursorMeta = ['meta.next_cursor', 'meta.has_more'] as const

/** `under('agents[]', ['id'])` is `['agents[].id']`. */
export function under(parent: string, fields: readonly string[]): string[] {
  return fields.map(field => `${parent}.${field}`)
}
