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
  /** Single refunds, by id: when each was made or, for one that failed, when it did. */
  refunds?: Record<string, { at: number; amount: string; hasFailed: boolean }>
  /** By id. */
  disputes?: Record<string, { at: number; amount: string; state: 'open' | 'won' | 'lost' }>
}

/** The order in which reports come makes no difference. */
export function mergeReversals(one: Reversals, other: Reversals): Reversals {
  return {
    ...latestTotal(one, other),
    refunds: mergeById(one.refunds, other.refunds, (known, next) => !known.hasFailed && next.hasFailed),
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
  return Object.values(refunds).reduce((sum, { at, amount, hasFailed }) => {
    if (total !== undefined && (at < total.at || (at === total.at && (total.isChange || !hasFailed))))
      return sum
    return hasFailed ? subtract(sum, amount, currency) : add(sum, amount, currency)
  }, total?.amount ?? '0')
}

export function isDisputed({ disputes = {} }: Reversals): boolean {
  return Object.values(disputes).some(({ state }) => state !== 'won')
}

/** Whether any part is more than the payment. */
export function exceeds({ total, refunds = {}, disputes = {} }: Reversals, amount: string): boolean {
  const parts = [...(total ? [total] : []), ...Object.values(refunds), ...Object.values(disputes)]
  return parts.some(part => compare(part.amount, amount) > 0)
}
