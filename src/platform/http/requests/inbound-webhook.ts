/** Requests of services that authenticate by a secret shared with us, instead of by a user. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import type { App } from '../app.ts'

/** Accepts bodies of any type in the routes of a scope, as the bytes that arrived, because signatures are made over these. */
export function acceptRawBodies(scope: App): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

export interface Signature {
  /** A header of `name=value` pairs with commas between them. */
  header: string
  /** The name of the values that are signatures (HMAC-SHA256, hexadecimal). One valid signature is enough. */
  name: string
  /** Unset or empty: all requests are refused. */
  secret: string | undefined
  /** Max distance of the signed time from `now`, for senders that sign `t.body` with the header's time `t` (Unix seconds). */
  window?: { seconds: number; now: number }
}

/** Replaces an unset secret, so that callers do not learn whether one is set. */
const unguessable = randomBytes(32).toString('hex')

/** Returns the body of a signed request. @throws AppError UNAUTHORIZED for a wrong signature, and without a secret */
export function verifiedBody(request: FastifyRequest, { header, name, secret, window }: Signature): Buffer {
  const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0)
  const pairs = String(request.headers[header] ?? '')
    .split(',')
    .map(pair => pair.trim().split(/=(.*)/s))
  const valuesOf = (wanted: string) => pairs.flatMap(([key, value]) => (key === wanted ? [value ?? ''] : []))
  const hmac = createHmac('sha256', secret || unguessable)
  if (window !== undefined) {
    const [time = ''] = valuesOf('t')
    const isRecent = Math.abs(Number(time) - window.now / 1000) <= window.seconds
    if (!/^\d+$/.test(time) || !isRecent) throw refused('has no time, or one that is too far from ours')
    hmac.update(`${time}.`)
  }
  const expected = hmac.update(body).digest('hex')
  if (!valuesOf(name).some(signature => isEqual(signature.toLowerCase(), expected)))
    throw refused('is missing or wrong')
  return body
}

/** Checks a secret that the sender passes itself. @throws as `verifiedBody` */
export function requireSecret(given: unknown, secret: string | undefined): void {
  if (!isEqual(String(given ?? ''), secret || unguessable)) throw refused('is missing or wrong')
}

/** Compares two texts in a time that does not depend on the place of their difference or their length. */
export function isEqual(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}

function refused(issue: string): AppError {
  return new AppError(
    'UNAUTHORIZED',
    `The signature ${issue}: the request must prove that it knows the secret.`,
  )
}
