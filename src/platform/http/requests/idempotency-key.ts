import type { FastifyRequest } from 'fastify'

/** Returns the `Idempotency-Key` that the caller has chosen. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  return key === undefined ? undefined : String(key)
}
