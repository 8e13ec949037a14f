import { canonical, compare } from '../money.ts'
import type { Transaction, TransactionSource, TransactionState, TransactionType } from './ledger.schema.ts'
import { transactionStates } from './ledger.schema.ts'

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
  /** How much of it has gone back in all. */
  refunded?: string
  note?: string | null
}

/** @param now ISO 8601. */
export function newTransaction(id: string, report: PaymentReport, now: string): Transaction {
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
    refunded: canonical(report.refunded ?? '0', currency),
    note: report.note ?? null,
    created_at: now,
    updated_at: now,
  }
  return { ...blank, state: stateOf(blank) }
}

/** Merges another report into a transaction. The order in which reports come makes no difference. */
export function mergeTransaction(known: Transaction, report: PaymentReport, now: string): Transaction {
  const next = newTransaction(known.id, report, now)
  const isCertain = rank(known.state) >= rank('settled')
  const merged = {
    ...known,
    // The amount that was requested gives way to the amount that was paid.
    amount: isCertain ? known.amount : next.amount,
    currency: isCertain ? known.currency : next.currency,
    from: leastOf(known.from, next.from),
    to: leastOf(known.to, next.to),
    reference: leastOf(known.reference, next.reference),
    note: next.note ?? known.note,
    state: rank(next.state) > rank(known.state) ? next.state : known.state,
    refunded: compare(next.refunded, known.refunded) > 0 ? next.refunded : known.refunded,
    updated_at: now,
  }
  return { ...merged, state: stateOf(merged) }
}

/** A payment that has gone back in full is refunded. */
function stateOf({
  state,
  amount,
  refunded,
}: Pick<Transaction, 'state' | 'amount' | 'refunded'>): TransactionState {
  return state === 'settled' && compare(refunded, '0') > 0 && compare(refunded, amount) >= 0
    ? 'refunded'
    : state
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
