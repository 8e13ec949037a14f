import { AppError } from '../errors.ts'

/** The meaning of an error's code, name or message of Node, OpenSSL, zlib or undici for a person; the first match counts. */
const reasons: [sign: RegExp, reason: string][] = [
  [/^ENOTFOUND$/, 'there is no host of this name'],
  [/^EAI_/, 'its name could not be looked up'],
  [/^ECONNREFUSED$/, 'it refused the connection'],
  [/^(ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL)$/, 'no network leads to it'],
  [/^TimeoutError$/, 'it did not answer in time'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'it did not accept a connection in time'],
  [/^UND_ERR_(HEADERS|BODY)_TIMEOUT$/, 'it stopped answering'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'it closed the connection early'],
  [/^UND_ERR_(ABORTED|CLOSED|DESTROYED)$/, 'the connection was ended on this side'],
  [/^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/, 'its certificate is not valid'],
  [/^(EPROTO|ERR_SSL_|ERR_TLS_)/, 'it does not speak TLS as expected'],
  [/^(HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$)/, 'its answer is not valid HTTP'],
  [/^Z_BUF_ERROR$/, 'its compressed answer is cut short'],
  [/^(Z_|ZSTD_|ERR__ERROR_)/, 'its answer could not be decompressed'],
]

/** Returns an error for a failed exchange, a sentence: `The request to api.example.com failed: <reason>.` */
export function outboundFailed(host: string, reason: string, cause?: unknown): AppError {
  return new AppError('OUTBOUND_FAILED', `The request to ${host} failed: ${reason}.`, { cause })
}

/**
 * Returns the error for the caller from one of a connection or a body. A refusal by the guard stays
 * unchanged, and ports that the Fetch standard bars are refused too; other errors are reported in our words,
 * with the original as the cause for the log.
 */
export function toOutboundError(error: unknown, host: string): AppError {
  const chain = causes(error)
  const known = chain.find(link => link instanceof AppError)
  if (known !== undefined) return known
  const signs = chain.flatMap(link => ['code' in link ? String(link.code) : '', link.name, link.message])
  if (signs.includes('bad port')) {
    return new AppError(
      'OUTBOUND_REFUSED',
      `${host} cannot be reached: its port belongs to another protocol than HTTP.`,
    )
  }
  const reason = reasons.find(([pattern]) => signs.some(sign => pattern.test(sign)))?.[1]
  return outboundFailed(host, reason ?? 'the connection broke', error)
}

/** Returns an error and its causes, outermost first. */
function causes(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : []
}
