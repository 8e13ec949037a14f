/** A request of the console as data: it is sent by `client.ts`, cached by `query.ts` and shown as a command by `curl.ts`. */
export interface ApiRequest<Answer = unknown> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The encoded path, without a query, built by `path`. */
  path: string
  query?: Query
  /** The body that is sent as JSON. */
  body?: unknown
  /** The form with files that is sent instead of `body`. */
  form?: FormData
  /** Names of fields of `body` whose values commands don't show. */
  secrets?: readonly string[]
  /** Keeps numbers of the response that a double would round, see `parseExact`. */
  isExact?: boolean
  /** The type of the response; never a value. */
  readonly answer?: Answer
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** Builds a path with encoded values: path`/api/agents/${id}/tools/${tool}`. */
export function path(texts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return texts.reduce((whole, text, at) => `${whole}${encodeURIComponent(values[at - 1] ?? '')}${text}`)
}

export const get = <Answer>(path: string, query?: Query): ApiRequest<Answer> => ({
  method: 'GET',
  path,
  ...(query && { query }),
})

interface Content {
  body?: unknown
  form?: FormData
  query?: Query
  secrets?: readonly string[]
}

export const post = <Answer>(path: string, content: Content = {}): ApiRequest<Answer> => ({
  method: 'POST',
  path,
  ...content,
})
export const put = <Answer>(path: string, content: Content): ApiRequest<Answer> => ({
  method: 'PUT',
  path,
  ...content,
})
export const remove = <Answer = { success: boolean }>(path: string, query?: Query): ApiRequest<Answer> => ({
  method: 'DELETE',
  path,
  ...(query && { query }),
})

export const exact = <Answer>(request: ApiRequest<Answer>): ApiRequest<Answer> => ({
  ...request,
  isExact: true,
})

/** Returns the request's address on this origin, with its query. */
export function addressOf({ path, query = {} }: ApiRequest): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map(one => [name, String(one)]),
  )
  return entries.length === 0 ? path : `${path}?${new URLSearchParams(entries)}`
}
