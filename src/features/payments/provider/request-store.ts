import type { Kysely } from 'kysely'
import { timestamp } from '#platform/clock.ts'
import { conflict, notFound } from '#platform/errors.ts'
import type { ChangeContext } from '#platform/jobs/jobs.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import { findByKeys, findTransaction, keysOf } from '../ledger/ledger.repository.ts'
import type { Ledger, PaymentOutbox } from '../ledger/ledger.service.ts'
import { fromUnits, providerDecimals } from '../money.ts'
import type { PaymentEvents } from '../payments.events.ts'
import { answerRequest, findRequest, insertRequest, type RequestRow } from './provider.repository.ts'
import type { Exchanges, Kind } from './provider.schema.ts'
import { type Performed, refundableKey } from './provider-calls.ts'

/** Delay before a request is repeated whose process has died (ms). */
const firstRepeatMs = 60_000
export const dayMs = 24 * 3_600_000

/** The outcome of a request; for a refusal, the error for its callers. */
export type Outcome =
  | Performed<unknown>
  | { refusal: { message: string; details: Record<string, unknown> | undefined } }

interface Dependencies extends ChangeContext<PaymentEvents> {
  ledger: Ledger
}

/** Requests to the provider: stored with a job before they are sent, so that none is lost in a crash. */
export function createRequestStore({ transact, ledger, clock, ids }: Dependencies) {
  /** Returns the id of a new payment's pending transaction, or of the one to be refunded. */
  async function transactionFor(
    transaction: Kysely<AgentTables>,
    outbox: PaymentOutbox,
    agentId: string,
    body: Exchanges[Kind]['body'],
  ): Promise<string | null> {
    if ('currency' in body) {
      const { currency, description: note } = body
      const amount = fromUnits(body.amount, providerDecimals(currency))
      const requested = { type: 'inbound', source: 'provider', state: 'pending' } as const
      const report = { ...requested, keys: [], amount, currency, note }
      return (await ledger.record(transaction, outbox, agentId, report)).id
    }
    const { charge_id, transaction_id = '' } = body
    if (charge_id !== undefined) return (await findByKeys(transaction, [charge_id]))?.id ?? null
    if ((await findTransaction(transaction, transaction_id)) === undefined) throw notFound('Transaction')
    if (refundableKey(await keysOf(transaction, transaction_id)) === undefined)
      throw conflict(
        'This transaction was not paid through the payment provider, which can so not refund it.',
      )
    return transaction_id
  }

  return {
    /** Returns the new request with its pending transaction, or the stored one of the caller's key. */
    store(agent: AgentHandle, kind: Kind, body: Exchanges[Kind]['body'], callerKey: string | undefined) {
      const caller_key = callerKey ?? null
      const row = { id: ids.record(), kind, caller_key, body: JSON.stringify(body), answer: null }
      return transact(
        agent,
        async (transaction, outbox): Promise<{ request: RequestRow; isNew: boolean }> => {
          const keptSince = new Date(clock.now() - dayMs).toISOString()
          const known = callerKey === undefined ? undefined : await findRequest(transaction, { caller_key })
          if (known !== undefined && known.created_at >= keptSince) {
            if (known.kind === kind && known.body === row.body) return { request: known, isNew: false }
            throw conflict('This Idempotency-Key was used for another request within the last 24 hours.')
          }
          const transaction_id = await transactionFor(transaction, outbox, agent.agentId, body)
          const request = { ...row, transaction_id, created_at: timestamp(clock) }
          await insertRequest(transaction, request, keptSince)
          await outbox.add({ ...jobOf(request.id), runAt: clock.now() + firstRepeatMs })
          return { request, isNew: true }
        },
      )
    },

    /** Records the outcome of a request, also in the ledger; `isJob` if its own job has found it. */
    record(agent: AgentHandle, { id, kind, transaction_id }: RequestRow, outcome: Outcome, isJob: boolean) {
      return transact(agent, async (transaction, outbox) => {
        const keptOutcome = 'refusal' in outcome ? outcome : { answer: outcome.answer }
        await answerRequest(transaction, id, JSON.stringify(keptOutcome))
        const known = transaction_id === null ? undefined : await findTransaction(transaction, transaction_id)
        const report = reportOf(kind, outcome)
        if (report !== undefined && known !== undefined) {
          const { type, source, amount, currency } = known
          const requested = { transactionId: known.id, type, source, amount, currency }
          await ledger.record(transaction, outbox, agent.agentId, { ...requested, ...report })
        }
        if (!isJob) await outbox.cancel(jobOf(id).key)
      })
    },
  }
}

/** A refused refund does not change its transaction. */
function reportOf(kind: string, outcome: Outcome): Performed<unknown>['report'] {
  if (!('refusal' in outcome)) return outcome.report
  return kind === 'refund' ? undefined : { keys: [], state: 'failed' }
}

export const retryRequestJobName = 'payments.ask-provider'

function jobOf(requestId: string) {
  return { name: retryRequestJobName, payload: requestId, key: `provider:${requestId}` }
}
