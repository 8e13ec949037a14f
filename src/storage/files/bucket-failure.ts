import { AppError } from '#platform/errors.ts'
import type { BucketSettings } from './file-store.ts'

/** The used parts of errors of the library and of its `fetch`. */
interface Failure {
  name?: unknown
  status?: unknown
  serviceCode?: unknown
  code?: unknown
  cause?: { code?: unknown }
}

/** Returns true if the server reports that the object is missing, as opposed to the bucket. */
export function isMissing(error: unknown): boolean {
  const { status, serviceCode } = asFailure(error)
  return status === 404 && serviceCode !== 'NoSuchBucket'
}

/**
 * A sentence for callers and the log, made only of parts that cannot be secret. The underlying error is dropped: some
 * servers' answers repeat what was signed, and with which key.
 */
export function bucketFailure(error: unknown, settings: BucketSettings): AppError {
  if (error instanceof AppError) return error
  return new AppError('INTERNAL_ERROR', `The bucket for files ${problemOf(asFailure(error), settings)}.`)
}

function problemOf(failure: Failure, settings: BucketSettings): string {
  const { name, status, serviceCode, code, cause } = failure
  if (typeof status === 'number') return `answered with status ${status}${inBrackets(serviceCode, settings)}`
  if (name === 'TimeoutError') return 'did not answer in time'
  const network = typeof code === 'string' ? code : cause?.code
  return network === undefined
    ? 'did not do what it was asked for'
    : `could not be reached${inBrackets(network, settings)}`
}

/** Returns a code that is a single word and no secret, in brackets: the server decides what it sends. */
function inBrackets(code: unknown, { accessKeyId, secretAccessKey }: BucketSettings): string {
  const isWord = typeof code === 'string' && /^[A-Za-z_]{3,60}$/.test(code) && code !== 'Unknown'
  return isWord && !code.includes(accessKeyId) && !code.includes(secretAccessKey) ? ` (${code})` : ''
}

function asFailure(error: unknown): Failure {
  return typeof error === 'object' && error !== null ? error : {}
}
