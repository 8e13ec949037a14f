import { AppError } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import type { Outbound, OutboundResponse } from '#platform/outbound/outbound.ts'
import { createSlots } from '#platform/workers/slots.ts'
import type { RunLimits } from './limits.ts'
import type { Answer, SandboxAnswer, SandboxRequest } from './messages.ts'

export type GuardedFetch = Outbound['fetch']

interface Surroundings {
  fetch: GuardedFetch
  limits: RunLimits
  log: Log
  /** The run's signal: aborting it ends every request. */
  signal: AbortSignal
}

/** Sends the requests of one run through the guard; failures become a sentence for the code. */
export function createRequestServer({ fetch, limits, log, signal }: Surroundings) {
  const slots = createSlots(limits.parallelRequests)

  return async function answer({ url, ...request }: SandboxRequest): Promise<Answer<SandboxAnswer>> {
    try {
      const release = await slots.take(signal)
      const maxBytes = limits.answerBytes
      const response = await fetch(url, { ...request, maxBytes, signal }).finally(release)
      return [true, plainAnswer(response)]
    } catch (error) {
      if (signal.aborted) return [false, 'The run has ended.']
      if (error instanceof AppError) return [false, error.message]
      log.warn({ err: error }, 'a request of sandboxed code failed')
      return [false, 'The request failed.']
    }
  }
}

function plainAnswer(response: OutboundResponse): SandboxAnswer {
  const { status, url, headers } = response
  return { status, url, headers: [...headers], text: response.text() }
}
