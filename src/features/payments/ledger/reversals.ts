import { add, compare, subtract } from '../money.ts'

/**
 * Money that has gone back, or may, as the provider reports it: in any order, and more than once. Amounts are decimal texts,
 * times the seconds at which the provider says that something happened.
 */
export interface Reversals {
  /** The refunded part of the whole payment. */
  total?: {
    at: number
    amount: string
    /** It was reported because the payment has changed, so that it holds failures of the same second. */
    isChange?: boolean
  }
  /** Single refunds, by id: when each was made and, for one that failed, when it did. */
  refunds?: Record<string, { at: number; amount: string; failedAt?: number }>
  /** By id. */
  disputes?: Record<string, { at: number; amount: string; state: 'open' | 'won' | 'lost' }>
}

/** The order in which reports come makes no difference. */
export function mergeReversals(one: Reversals, other: Reversals): Reversals {
  return {
    ...latestTotal(one, other),
    refunds: mergeById(
      one.refunds,
      other.refunds,
      (known, next) => next.failedAt !== undefined && known.failedAt === undefined,
    ),
    disputes: mergeById(one.disputes, other.disputes, (known, next) =>
      known.state === 'open'
        ? next.state !== 'open' || next.at > known.at
        : next.state !== 'open' && next.at > known.at,
    ),
  }
}

function latestTotal({ total: one }: Reversals, { total: other }: Reversals): Pick<Reversals, 'total'> {
  const total = one === undefined || other === undefined ? (one ?? other) : later(one, other)
  return total === undefined ? {} : { total }
}

function later(one: NonNullable<Reversals['total']>, other: NonNullable<Reversals['total']>) {
  if (one.at !== other.at) return one.at > other.at ? one : other
  const [isChange = false, isOtherChange = false] = [one.isChange, other.isChange]
  if (isChange !== isOtherChange) return isChange ? one : other
  return compare(one.amount, other.amount) > 0 ? one : other
}

function mergeById<Part>(
  known: Record<string, Part> = {},
  next: Record<string, Part> = {},
  replaces: (known: Part, next: Part) => boolean,
): Record<string, Part> {
  const added = Object.entries(next).filter(([id, part]) => {
    const before = known[id]
    return before === undefined || replaces(before, part)
  })
  return { ...known, ...Object.fromEntries(added) }
}

/** The part that has gone back in all. */
export function refundedOf({ total, refunds = {} }: Reversals, currency: string): string {
  return Object.values(refunds).reduce((sum, { at, amount, failedAt }) => {
    const isInTotal = total !== undefined && at <= total.at
    if (failedAt === undefined) return isInTotal ? sum : add(sum, amount, currency)
    const isTakenOut =
      total !== undefined && (failedAt < total.at || (failedAt === total.at && total.isChange))
    return isInTotal && !isTakenOut ? subtract(sum, amount, currency) : sum
  }, total?.amount ?? '0')
}

export function isDisputed({ disputes = {} }: Reversals): boolean {
  return Object.values(disputes).some(({ state }) => state !== 'won')
}

/** Whether a dispute, or the refunds together, are more than the payment. */
export function exceeds(reversals: Reversals, payment: { amount: string; currency: string }): boolean {
  const disputed = Object.values(reversals.disputes ?? {}).map(({ amount }) => amount)
  const parts = [...disputed, refundedOf(reversals, payment.currency)]
  return parts.some(part => compare(part, payment.amount) > 0)
}
