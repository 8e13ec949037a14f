import { createHmac } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../../clock.ts'
import type { SecretBox } from '../../encryption/secret-box.ts'
import { isEqual } from '../requests/inbound-webhook.ts'

interface Dependencies {
  /** The box with the key of all processes of the service. */
  secretBox: Pick<SecretBox, 'derive'>
  /** Id of this process. */
  instanceId: string
  clock: Clock
}

/** The header by which a process proves that it passes a request on. */
export const signatureHeader = 'x-replica-signature'

/** Milliseconds. */
const validMs = 60_000

export type SignedRequests = ReturnType<typeof createSignedRequests>

/** Signs requests between the service's processes: for one method, address and process, for a minute. */
export function createSignedRequests({ secretBox, instanceId, clock }: Dependencies) {
  const key = secretBox.derive(['requests between replicas'])

  function make({ raw: { method, url } }: FastifyRequest, audience: string, expiresAt: number): string {
    const signed = JSON.stringify([method, url, audience, expiresAt])
    return `${expiresAt}.${createHmac('sha256', key).update(signed).digest('base64url')}`
  }

  return {
    sign: (request: FastifyRequest, audience: string) => make(request, audience, clock.now() + validMs),

    /** Returns true if another process has passed the request on to this one. */
    isSigned(request: FastifyRequest): boolean {
      const signature = request.headers[signatureHeader]
      if (signature === undefined) return false
      const expiresAt = Number.parseInt(String(signature), 10)
      return expiresAt > clock.now() && isEqual(String(signature), make(request, instanceId, expiresAt))
    },
  }
}
