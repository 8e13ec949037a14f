import type { IncomingHttpHeaders } from 'node:http'

/** Whether a page sends the request that does not come from the address which the request is sent to. */
export function isCrossOrigin({ host, origin }: IncomingHttpHeaders): boolean {
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`
}
