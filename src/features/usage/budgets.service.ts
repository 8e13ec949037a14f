import type { StoredSettings } from '#features/agents/settings.service.ts'
import type { Actor } from '#platform/actor.ts'
import type { Clock } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import type { Amount, Budget, Held } from './budgets.repository.ts'
import { findLimits, reserve, scopeOf, settle, spentOf } from './budgets.repository.ts'
import type { UsageDatabase } from './usage.repository.ts'

interface Limits {
  monthly_tokens?: number | null
  /** A decimal. */
  monthly_usd?: string | null
}

const unlimited = Number.MAX_SAFE_INTEGER
/** Until a turn may be tried again for which others have reserved the rest, in seconds. */
const reservedSeconds = 10

/** Those of a month that are set. */
function amountOf({ monthly_tokens, monthly_usd }: Limits = {}): Amount | undefined {
  if (monthly_tokens == null && monthly_usd == null) return undefined
  const cost = monthly_usd == null ? unlimited : Math.min(Math.round(Number(monthly_usd) * 1e9), unlimited)
  return { tokens: monthly_tokens ?? unlimited, cost }
}

export function createBudgets({ platform, clock }: { platform: UsageDatabase; clock: Clock }) {
  async function refusal(budget: Budget): Promise<AppError> {
    const now = new Date(clock.now())
    const spent = await spentOf(platform, scopeOf(budget), now.toISOString().slice(0, 7))
    if (spent.tokens < budget.tokens && spent.cost < budget.cost)
      return new AppError(
        'BUDGET_SPENT',
        `Turns under way have reserved the rest of ${words[budget.of].budget}. Try again in a moment.`,
        { details: { retry_after: reservedSeconds }, isPermanent: false },
      )
    const renewal = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
    const day = renewal.toISOString().slice(0, 10)
    return new AppError(
      'BUDGET_SPENT',
      `${words[budget.of].budget} for this month is spent. It begins anew on ${day} (UTC); until then, ${words[budget.of].remedy}.`.replace(
        /^./,
        first => first.toUpperCase(),
      ),
      {
        details: {
          retry_after: Math.ceil((renewal.getTime() - now.getTime()) / 1000),
          renews_at: renewal.toISOString(),
        },
      },
    )
  }

  return {
    /** The budgets that the turns of an actor count against, in one order. */
    async of(agentId: string, settings: StoredSettings, { kind, id, person }: Actor): Promise<Budget[]> {
      const found: Budget[] = []
      const own = amountOf(settings)
      if (own) found.push({ of: 'agent', agentId, ...own })
      const email = person ?? (kind === 'person' ? id : null)
      if (email === null) return found
      const key = kind === 'key' && id !== null ? id : undefined
      const limits = await findLimits(platform, { agentId, key, person: email })
      const [ofKey, ofPerson] = [amountOf(limits.ofKey), amountOf(limits.ofPerson)]
      if (key !== undefined && ofKey) found.push({ of: 'key', key, ...ofKey })
      if (ofPerson) found.push({ of: 'person', agentId, person: email, ...ofPerson })
      return found
    },

    /** Reserves the amount in each budget, or in none. Throws BUDGET_SPENT. */
    async reserve(budgets: readonly Budget[], amount: Amount): Promise<Held[]> {
      const held: Held[] = []
      for (const budget of budgets) {
        const one = await reserve(platform, budget, amount, clock.now())
        if (one === undefined) {
          for (const each of held) await settle(platform, each, { tokens: 0, cost: 0 })
          throw await refusal(budget)
        }
        held.push(one)
      }
      return held
    },

    async settle(held: readonly Held[], amount: Amount): Promise<void> {
      for (const each of held) await settle(platform, each, amount)
    },
  }
}

const words = {
  agent: {
    budget: 'the budget of this agent',
    remedy: 'its admins can raise monthly_tokens or monthly_usd in its settings',
  },
  key: { budget: 'the budget of this API key', remedy: 'who manages the key can raise it' },
  person: { budget: 'your budget on this agent', remedy: "the agent's owners can raise it" },
} satisfies Record<Budget['of'], unknown>
