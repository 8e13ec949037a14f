/** Requests of services that prove themselves by a secret which they share with us, instead of by a user. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import type { App } from '../app.ts'

/** Lets the routes of a scope take bodies of any type, as the bytes that arrived: signatures are made over these. */
export function acceptRawBodies(scope: App): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

export interface Signature {
  /** A header of `name=value` pairs with commas between them. */
  header: string
  /** The name of its values that are signatures (HMAC-SHA256, hexadecimal). One right one of several is enough. */
  name: string
  /** Unset or empty: nothing is let in. */
  secret: string | undefined
  /** For senders that sign `t.body`, with their time `t` (Unix seconds) in the header: how far it may be from `now`. */
  window?: { seconds: number; now: number }
}

/** Stands in for a secret that is not set, so that callers do not learn whether one is. */
const unguessable = randomBytes(32).toString('hex')

/** The body of a signed request. @throws AppError UNAUTHORIZED for a signature that is not right, and without a secret */
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

/** For senders that show the secret itself. @throws as `verifiedBody` */
export function requireSecret(given: unknown, secret: string | undefined): void {
  if (!isEqual(String(given ?? ''), secret || unguessable)) throw refused('is missing or wrong')
}

/** Takes equally long wherever two texts differ, and however long they are. */
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
