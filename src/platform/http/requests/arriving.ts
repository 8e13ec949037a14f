import type { IncomingMessage } from 'node:http'

/** True if a part of the request's body has not arrived yet. */
export function isArriving({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)
}
