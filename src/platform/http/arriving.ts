import type { IncomingMessage } from 'node:http'

/** Whether a request has a body of which something is still on its way. */
export function isArriving({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)
}
