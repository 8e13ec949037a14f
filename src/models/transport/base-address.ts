/**
 * An address with its version: one without any path, as the providers' own tools take it, gets the path that the
 * public address has (`/v1` for most). A query is kept, as well as a user and a password.
 */
export function baseAddress(address: string, publicAddress = 'https://localhost/v1'): string {
  const url = URL.parse(address)
  if (url?.pathname !== '/') return address.replace(/^([^?]*?)\/+(?=\?|$)/, '$1')
  url.pathname = new URL(publicAddress).pathname
  return url.href
}

/** The address of a path below a base address, whose query goes last: some servers want one with every request, as `?api-version=…`. */
export function addressBelow(baseUrl: string, path: string): string {
  const at = baseUrl.indexOf('?')
  if (at < 0) return baseUrl + path
  return `${baseUrl.slice(0, at)}${path}${path.includes('?') ? '&' : '?'}${baseUrl.slice(at + 1)}`
}
