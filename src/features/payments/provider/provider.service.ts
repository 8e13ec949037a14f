import type { Credentials } from '#features/agents/settings.service.ts'
import type { Clock } from '#platform/clock.ts'
import { AppError, invalid } from '#platform/errors.ts'
import type { JobHandler } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { keysOf } from '../ledger/ledger.repository.ts'
import { findRequest, type RequestRow } from './provider.repository.ts'
import type { Exchanges, Kind } from './provider.schema.ts'
import { listCards, providerCalls } from './provider-calls.ts'
import type { CallProvider } from './provider-client.ts'
import { type createRequestStore, dayMs, type Outcome, retryRequestJobName } from './request-store.ts'

/** The provider remembers keys for a day: a later retry could charge again. */
const lastRepeatMs = dayMs - 3_600_000

interface Dependencies {
  requests: ReturnType<typeof createRequestStore>
  credentialsOf(agentId: string): Promise<Credentials>
  /** The platform's own key, for agents without one. */
  apiKey: string | undefined
  callProvider: CallProvider
  clock: Clock
}

/** Sends requests to the provider, and repeats each under the same key until the outcome is known. */
export function createProviderService(dependencies: Dependencies) {
  const { requests, credentialsOf, callProvider, clock } = dependencies

  async function keyOf(agentId: string): Promise<string> {
    const key = (await credentialsOf(agentId)).provider_api_key ?? dependencies.apiKey
    if (key !== undefined) return key
    throw new AppError(
      'PROVIDER_NOT_CONFIGURED',
      'There are no credentials of the payment provider: set provider_api_key of the agent, or PROVIDER_API_KEY.',
    )
  }

  async function perform(
    agent: AgentHandle,
    request: RequestRow,
    by: 'caller' | 'repeating caller' | 'job',
  ): Promise<Outcome> {
    const { id, kind, body, transaction_id } = request
    const apiKey = await keyOf(agent.agentId)
    const paymentKeys = transaction_id === null ? [] : await keysOf(agent.db, transaction_id)
    const { agentId } = agent
    const context = { idempotencyKey: id, agentId, transactionId: transaction_id, paymentKeys }
    // The body was checked for this kind when the request was stored.
    const call = providerCalls[kind as Kind] as (typeof providerCalls)['charge']
    const outcome: Outcome = await callProvider(
      apiKey,
      client => call(client, JSON.parse(body), context),
      by !== 'caller',
    ).catch(error => ({ refusal: refusalOf(error) }))
    await requests.record(agent, request, outcome, by === 'job')
    return outcome
  }

  const retryRequest: JobHandler<AgentHandle> = {
    lane: 'deliveries',
    maxAttempts: 8,
    async run({ agent, payload }) {
      const request = await findRequest(agent.db, { id: String(payload) })
      const isOpen = request !== undefined && request.answer === null
      if (!isOpen || Date.parse(request.created_at) + lastRepeatMs < clock.now()) return
      await perform(agent, request, 'job')
    },
  }

  return {
    /** @throws AppError PROVIDER_NOT_CONFIGURED, PROVIDER_REFUSED, or OUTCOME_UNKNOWN for an open outcome */
    async request<Of extends Kind>(
      agent: AgentHandle,
      kind: Of,
      body: Exchanges[Of]['body'],
      callerKey?: string,
    ): Promise<Exchanges[Of]['answer']> {
      if (callerKey !== undefined && !/^[\x21-\x7e]{1,255}$/.test(callerKey))
        throw invalid('Idempotency-Key', 'must be 1 to 255 printable ASCII characters')
      await keyOf(agent.agentId)
      const { request, isNew } = await requests.store(agent, kind, body, callerKey)
      const outcome: Outcome =
        request.answer === null
          ? await perform(agent, request, isNew ? 'caller' : 'repeating caller')
          : JSON.parse(request.answer)
      if ('answer' in outcome) return outcome.answer as Exchanges[Of]['answer']
      const { message, details = {} } = outcome.refusal
      throw new AppError('PROVIDER_REFUSED', message, { details })
    },

    async cards(agentId: string) {
      const apiKey = await keyOf(agentId)
      return await callProvider(apiKey, listCards).catch(error => {
        // A read has no outcome that could be open.
        if (isRefusal(error)) throw error
        throw new AppError('OUTBOUND_FAILED', 'The payment provider gave no usable answer. Try again.')
      })
    },

    jobs: { [retryRequestJobName]: retryRequest },
  }
}

export type ProviderService = ReturnType<typeof createProviderService>

function isRefusal(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'PROVIDER_REFUSED'
}

function refusalOf(error: unknown) {
  if (!isRefusal(error)) throw error
  return { message: error.message, details: error.details }
}
