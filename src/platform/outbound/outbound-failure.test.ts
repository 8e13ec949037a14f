import { expect, it } from 'vitest'
import { AppError } from '../errors.ts'
import { toOutboundError } from './outbound-failure.ts'

/** As fetch throws it: the telling error is the cause of one that tells nothing. */
function thrown(code: string): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error('connect 10.1.2.3:80'), { code }) })
}

it.each([
  ['ENOTFOUND', 'no host of this name'],
  ['EAI_AGAIN', 'could not be looked up'],
  ['ECONNREFUSED', 'refused the connection'],
  ['EHOSTUNREACH', 'no network leads to it'],
  ['UND_ERR_CONNECT_TIMEOUT', 'did not accept a connection in time'],
  ['UND_ERR_HEADERS_TIMEOUT', 'stopped answering'],
  ['UND_ERR_SOCKET', 'closed the connection early'],
  ['UND_ERR_DESTROYED', 'ended on this side'],
  ['CERT_HAS_EXPIRED', 'certificate is not valid'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate is not valid'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate is not valid'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate is not valid'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate is not valid'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
  ['HPE_INVALID_CONSTANT', 'not valid HTTP'],
  ['Z_BUF_ERROR', 'compressed answer is cut short'],
  ['Z_DATA_ERROR', 'could not be decompressed'],
  ['ERR__ERROR_FORMAT_PADDING_2', 'could not be decompressed'],
  ['ZSTD_error_prefix_unknown', 'could not be decompressed'],
  ['SOMETHING_ELSE', 'the connection broke'],
])('tells %s as: %s', (code, reason) => {
  const error = toOutboundError(thrown(code), 'api.example')
  expect(error.code).toBe('OUTBOUND_FAILED')
  expect(error.message).toContain(`The request to api.example failed: `)
  expect(error.message).toContain(reason)
  expect(error.message).not.toMatch(/10\.1\.2\.3|fetch failed/)
})

it('passes on a refusal from further down', () => {
  const refusal = new AppError('OUTBOUND_REFUSED', 'no')
  expect(toOutboundError(new TypeError('fetch failed', { cause: refusal }), 'api.example')).toBe(refusal)
})

it('keeps the cause for the log', () => {
  const error = thrown('ECONNRESET')
  expect(toOutboundError(error, 'api.example').cause).toBe(error)
})

it('copes with what is no error', () => {
  expect(toOutboundError('text', 'api.example').message).toContain('the connection broke')
})
