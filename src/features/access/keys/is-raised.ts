import { lesser, type Role } from '../policy.ts'
import type { KeyRow } from './keys.repository.ts'

/** Returns whether a changed key may do, spend or reach more than before, or live longer; null is no limit. */
export function isRaised(before: KeyRow, after: KeyRow): boolean {
  const rate = [before.rate_per_minute, after.rate_per_minute]
  return (
    // `viewer` and `chat` have nothing in common: each of them allows more than the other.
    isAbove(after.role, before.role, (one, other) => lesser(one as Role, other as Role) !== one) ||
    isAbove(after.agents, before.agents, (one, other) =>
      listOf(one).some(id => !listOf(other).includes(id)),
    ) ||
    isAbove(after.expires_at, before.expires_at) ||
    isAbove(after.monthly_tokens, before.monthly_tokens) ||
    isAbove(after.monthly_usd, before.monthly_usd, (one, other) => Number(one) > Number(other)) ||
    // Without a rate of its own a key has that of its address, which is more or less: either change counts.
    isAbove(after.rate_per_minute, before.rate_per_minute) ||
    (rate.includes(null) && rate[0] !== rate[1])
  )
}

function isAbove<Limit>(
  after: Limit | null,
  before: Limit | null,
  allowsMore = (one: Limit, other: Limit) => one > other,
): boolean {
  return before !== null && (after === null || allowsMore(after, before))
}

const listOf = (agents: string): string[] => JSON.parse(agents)
