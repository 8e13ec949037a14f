/**
 * Returns an address with its version: one without any path, which the providers' own tools accept, gets the
 * path of the public address (`/v1` for most). A query, a user and a password stay.
 */
export function baseAddress(address: string, publicAddress = 'https://localhost/v1'): string {
  const url = URL.parse(address)
  if (url?.pathname !== '/') return address.replace(/^([^?]*?)\/+(?=\?|$)/, '$1')
  url.pathname = new URL(publicAddress).pathname
  return url.href
}

/**
 * Returns the address of a path below a base address, whose query comes last: some servers require one with
 * every request, such as `?api-version=…`.
 */
export function addressBelow(baseUrl: string, path: string): string {
  const at = baseUrl.indexOf('?')
  if (at < 0) return baseUrl + path
  return `${baseUrl.slice(0, at)}${path}${path.includes('?') ? '&' : '?'}${baseUrl.slice(at + 1)}`
}
