import { canonical, compare } from '../money.ts'
import {
  type Transaction,
  type TransactionSource,
  type TransactionState,
  type TransactionType,
  transactionStates,
} from './ledger.schema.ts'
import { isDisputed, mergeReversals, type Reversals, refundedOf } from './reversals.ts'

/** The facts about one payment that a message reports. */
export interface PaymentReport {
  /** Identifiers of the payment elsewhere; one of them is enough to recognise it. */
  keys: readonly string[]
  /** The transaction that the payment was made for, if the message names one. */
  transactionId?: string | undefined
  type: TransactionType
  amount: string
  currency: string
  from?: string | null
  to?: string | null
  reference?: string | null
  source: TransactionSource
  state: TransactionState
  reversals?: Reversals
  note?: string | null
}

/** A message's change of a known payment; without such a payment, it is ignored. */
export type PaymentChange = Pick<PaymentReport, 'keys' | 'transactionId' | 'reversals'> & { state?: 'failed' }

/** A transaction with its reported reversals. */
export interface LedgerEntry extends Transaction {
  reversals: Reversals
}

/** @param now ISO 8601. */
export function newTransaction(id: string, report: PaymentReport, now: string): LedgerEntry {
  const currency = report.currency.toUpperCase()
  const blank = {
    id,
    type: report.type,
    amount: canonical(report.amount, currency),
    currency,
    from: report.from ?? null,
    to: report.to ?? null,
    reference: report.reference ?? null,
    source: report.source,
    state: report.state,
    refunded: canonical('0', currency),
    note: report.note ?? null,
    created_at: now,
    updated_at: now,
  }
  return withReversals(blank, report.reversals ?? {})
}

/** Merges another report into a transaction, with the same result in any order of reports. */
export function mergeTransaction(known: LedgerEntry, report: PaymentReport, now: string): LedgerEntry {
  const next = newTransaction(known.id, report, now)
  const isCertain = rank(known.state) >= rank('settled')
  const isSame =
    known.source === 'provider' && report.source === 'provider' && known.currency === next.currency
  const isMore = isSame && rank(next.state) >= rank('settled') && compare(next.amount, known.amount) > 0
  const merged = {
    ...known,
    // A requested amount is replaced by the paid amount; more can be captured later.
    amount: isCertain && !isMore ? known.amount : next.amount,
    currency: isCertain ? known.currency : next.currency,
    from: leastOf(known.from, next.from),
    to: leastOf(known.to, next.to),
    reference: leastOf(known.reference, next.reference),
    note: next.note ?? known.note,
    state: rank(next.state) > rank(known.state) ? next.state : known.state,
    updated_at: now,
  }
  return withReversals(merged, mergeReversals(known.reversals, report.reversals ?? {}))
}

/** Completes a change to a report with the known facts. */
export function reportOf(known: LedgerEntry, { state, ...change }: PaymentChange): PaymentReport {
  const { type, amount, currency, source } = known
  return { type, amount, currency, source, state: state ?? known.state, ...change }
}

function withReversals(transaction: Transaction, reversals: Reversals): LedgerEntry {
  const { currency, amount } = transaction
  const refunded = canonical(refundedOf(reversals, currency), currency)
  if (rank(transaction.state) < rank('settled')) return { ...transaction, refunded, reversals }
  const isBack = compare(refunded, '0') > 0 && compare(refunded, amount) >= 0
  const state = isBack ? 'refunded' : isDisputed(reversals) ? 'disputed' : 'settled'
  return { ...transaction, refunded, reversals, state }
}
function rank(state: TransactionState): number {
  return transactionStates.indexOf(state)
}

function leastOf(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

export function isIncome({ type, state }: Transaction): boolean {
  return type !== 'outbound' && rank(state) >= rank('settled')
}
