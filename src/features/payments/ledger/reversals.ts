import { add, compare, subtract } from '../money.ts'

/**
 * Money that has been returned, or might be, as the provider reports it: in any order, and repeatedly.
 * Amounts are decimal texts; times are in seconds, by the provider's clock.
 */
export interface Reversals {
  /** The refunded part of the whole payment. */
  total?: {
    at: number
    amount: string
    /** Reported because the payment has changed, so it includes failures of the same second. */
    isChange?: boolean
  }
  /** Single refunds by id, with their time and, for a failed one, the time of the failure. */
  refunds?: Record<string, { at: number; amount: string; failedAt?: number }>
  /** Disputes by id. */
  disputes?: Record<string, { at: number; amount: string; state: 'open' | 'won' | 'lost' }>
}

/** Merges reports, with the same result in any order. */
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

/** Returns the total amount that has been returned. */
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

/** Returns true if a dispute, or the refunds together, exceed the payment. */
export function exceeds(reversals: Reversals, payment: { amount: string; currency: string }): boolean {
  const disputed = Object.values(reversals.disputes ?? {}).map(({ amount }) => amount)
  const parts = [...disputed, refundedOf(reversals, payment.currency)]
  return parts.some(part => compare(part, payment.amount) > 0)
}
