import type { IncomingHttpHeaders } from 'node:http'

/** Returns whether a page of another origin than the requested address sends the request. */
export function isCrossOrigin({ host, origin }: IncomingHttpHeaders): boolean {
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`
}
