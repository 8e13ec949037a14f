import { type Clock, timestamp } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import { decodeText, readBeginning } from '#platform/outbound/response-body.ts'
import { retryAfter } from '#platform/outbound/retry-after.ts'
import type { AgentSecrets } from '#storage/encryption/agent-secrets.ts'
import { signedHeaders } from './message.ts'
import type { DeliveryRow, WebhookRow } from './webhooks.repository.ts'

const timeoutMs = 15_000
const maxAnswerBytes = 1_024

interface Dependencies {
  outboundFetch: typeof fetch
  agentSecrets: AgentSecrets
  clock: Clock
}

export interface Outcome {
  /** Null without a response. */
  status: number | null
  answer: string
  /** Milliseconds of the receiver's Retry-After. */
  retryAfter?: number | undefined
  durationMs: number
}

export type Send = (delivery: Pick<DeliveryRow, 'id' | 'body'>, signal: AbortSignal) => Promise<Outcome>

/** Returns a sender of signed requests for a webhook. */
export function createSending({ outboundFetch, agentSecrets, clock }: Dependencies) {
  async function secretsOf(agentId: string, set: string | null): Promise<string[]> {
    const { secret, previous, previous_until = '' } = await agentSecrets.read(agentId, set)
    if (secret === undefined) throw new Error('the secret of a webhook was replaced just now')
    return previous !== undefined && timestamp(clock) < previous_until ? [secret, previous] : [secret]
  }

  /** Returns failed requests as outcomes; throws only the job's abort or a fault of the service. */
  return async (agentId: string, { url, secret_set }: WebhookRow): Promise<Send> => {
    const secrets = await secretsOf(agentId, secret_set)
    return async ({ id, body }, signal) => {
      const begun = clock.now()
      const headers = { 'content-type': 'application/json', ...signedHeaders(id, begun, body, secrets) }
      const deadline = AbortSignal.timeout(timeoutMs)
      const request = { method: 'POST', redirect: 'manual', headers, body } as const
      const ended = (status: number | null, answer: string) => ({
        status,
        answer,
        durationMs: clock.now() - begun,
      })
      try {
        const response = await outboundFetch(url, { ...request, signal: AbortSignal.any([signal, deadline]) })
        const wait = retryAfter(response.headers.get('retry-after'), clock.now())
        return { ...ended(response.status, await beginningOf(response)), retryAfter: wait }
      } catch (error) {
        signal.throwIfAborted()
        if (deadline.aborted) return ended(null, `No answer came within ${timeoutMs / 1000} s.`)
        if (error instanceof AppError) return ended(null, error.message)
        throw error
      }
    }
  }
}

/** After the status, a broken body is ignored. */
async function beginningOf({ body, headers }: Response): Promise<string> {
  const read = await readBeginning(body, maxAnswerBytes).catch(() => undefined)
  return decodeText(read?.body ?? new Uint8Array(), headers.get('content-type')).replaceAll('\0', '')
}
