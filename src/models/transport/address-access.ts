import { unescape as decoded } from 'node:querystring'
import { LRUCache } from 'lru-cache'

/** An address without the user and the password within it, and what these say of who asks. */
export interface PartedAddress {
  url: URL
  /** A key goes before it. */
  access: { authorization?: string }
}

/** Operators set few addresses, and each is asked for again with every question. */
const known = new LRUCache<string, PartedAddress>({ max: 100 })

/** A user and a password within an address, percent-encoded there, are sent as browsers do; a `%` that encodes nothing is one. */
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

/** The same for a `fetch`, which refuses such addresses; its requests are told by their address and not as a `Request`. */
export function withAddressAccess(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const { url, access } = partAddress(String(input))
    const headers = new Headers(init?.headers)
    if (access.authorization !== undefined && !headers.has('authorization'))
      headers.set('authorization', access.authorization)
    return await send(url, { ...init, headers })
  }
}
