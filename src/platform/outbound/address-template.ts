import { invalid } from '../errors.ts'

/** An address with variable parts in its path and query. */
export interface AddressTemplate {
  /** Scheme, host and port, which nothing may change. */
  origin: string
  path: string
  /** The query without its question mark. */
  query: string
}

/** Returns undefined if the text does not begin like an http address. */
export function splitAddress(url: string): AddressTemplate | undefined {
  const parts = /^(https?:\/\/[^/?#]+)([^?#]*)(?:\?([^#]*))?(?:#.*)?$/is.exec(url.trim())
  if (parts === null) return undefined
  const [, origin = '', path = '', query = ''] = parts
  return { origin, path: path === '' ? '/' : path, query }
}

/** An address as people are shown it: some have keys in their query. */
export function withoutQuery(url: string): string {
  return url.split(/[?#]/, 1)[0] ?? ''
}

/**
 * @param path percent-encoded, like the pairs of the query.
 * @throws VALIDATION_ERROR unless every parser would read this origin and this path from the whole.
 */
export function joinAddress(origin: string, path: string, pairs: readonly string[]): string {
  const target = URL.parse(origin)
  if (target === null) throw invalid('url', 'is not a full address such as https://example.com/items')
  const url = target.origin + path + (pairs.length === 0 ? '' : `?${pairs.join('&')}`)
  const parsed = URL.parse(url)
  if (parsed?.origin !== target.origin || parsed.pathname !== path)
    throw invalid(
      'url',
      `gives an address that is not under ${target.origin}; give other values for its path`,
    )
  return url
}
