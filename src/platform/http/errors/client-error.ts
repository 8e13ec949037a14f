import type { Socket } from 'node:net'
import { AppError } from '../../errors.ts'
import { formatError } from './error-format.ts'

const overflow = 'HPE_HEADER_OVERFLOW'
const badAddress = 'HPE_INVALID_URL'
const timedOut = 'ERR_HTTP_REQUEST_TIMEOUT'
const stalled = 'ERR_BODY_STALLED'

/** The error of a request whose body goes on no more. */
export const bodyStalled = Object.assign(new Error('The body stalled.'), { code: stalled })

/**
 * Answers bytes that are no HTTP request, and so reach no route, in the generic shape, and closes the
 * connection. Ignores a closed socket.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const problem = new AppError('VALIDATION_ERROR', messageFor(error.code))
  const body = JSON.stringify(formatError(problem, 'generic', '').body)
  const status = error.code === timedOut || error.code === stalled ? '408 Request Timeout' : '400 Bad Request'
  const head = [
    `HTTP/1.1 ${status}`,
    'Access-Control-Allow-Origin: *',
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}

function messageFor(code: string | undefined): string {
  if (code === overflow) return 'The headers of the request, with its address, are too large.'
  if (code === badAddress)
    return 'The address is not valid: write letters other than ASCII, and blanks, in percent notation, as in %C3%A4.'
  if (code === timedOut) return 'The request did not arrive in time.'
  if (code === stalled) return 'The request stopped arriving. Send it again.'
  return 'This is not an HTTP request.'
}
