import { unescape as decoded } from 'node:querystring'
import { LRUCache } from 'lru-cache'

/** An address without its user and password, and the authorisation header made of them. */
export interface PartedAddress {
  url: URL
  /** The header; a key takes precedence over it. */
  access: { authorization?: string }
}

/** A cache: operators configure few addresses, and every question needs one. */
const known = new LRUCache<string, PartedAddress>({ max: 100 })

/**
 * Splits an address. Its user and password, percent-encoded there, are sent like browsers send them; a `%`
 * that encodes nothing is literal.
 */
export function partAddress(address: string): PartedAddress {
  const before = known.get(address)
  if (before) return before
  const url = new URL(address)
  const access = accessBy(url)
  url.username = ''
  url.password = ''
  const parted = { url, access }
  known.set(address, parted)
  return parted
}

function accessBy({ username, password }: URL): PartedAddress['access'] {
  if (username === '' && password === '') return {}
  const pair = `${decoded(username)}:${decoded(password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** Wraps a `fetch`, which rejects such addresses; it must be called with an address, not with a `Request`. */
export function withAddressAccess(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const { url, access } = partAddress(String(input))
    const headers = new Headers(init?.headers)
    if (access.authorization !== undefined && !headers.has('authorization'))
      headers.set('authorization', access.authorization)
    return await send(url, { ...init, headers })
  }
}
