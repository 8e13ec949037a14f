import type { Access } from '#models/providers/provider-access.ts'
import type { Actor } from '#platform/actor.ts'
import type { Clock } from '#platform/clock.ts'
import { AppError } from '#platform/errors.ts'
import {
  type Amount,
  type Budget,
  findLimits,
  findOwner,
  type Held,
  reserve,
  scopeOf,
  settle,
  spentOf,
} from './budgets.repository.ts'
import type { UsageDatabase } from './usage.repository.ts'

export interface Limits {
  monthly_tokens?: number | null | undefined
  /** US dollars as a decimal. */
  monthly_usd?: string | null | undefined
}

const unlimited = Number.MAX_SAFE_INTEGER
/** Seconds until the retry of a turn that failed because others have reserved the rest. */
const reservedSeconds = 10

/** Returns the limits that are set for a month. */
function amountOf({ monthly_tokens, monthly_usd }: Limits = {}): Amount | undefined {
  if (monthly_tokens == null && monthly_usd == null) return undefined
  const cost = monthly_usd == null ? unlimited : Math.min(Math.round(Number(monthly_usd) * 1e9), unlimited)
  return { tokens: monthly_tokens ?? unlimited, cost }
}

interface Dependencies {
  platform: UsageDatabase
  /** Budgets for the platform's own model credentials: for all turns, and for each person over all agents. */
  houseLimits: { all: Limits; person: Limits }
  clock: Clock
}

/** The facts that select the budgets of a turn. */
export interface Spending {
  agentId: string
  settings: Limits
  /** The owner of the credentials that pay; undefined for a free model. */
  paidBy: Access['paidBy'] | undefined
}

export function createBudgets({ platform, houseLimits, clock }: Dependencies) {
  const [ofAll, ofEach] = [amountOf(houseLimits.all), amountOf(houseLimits.person)]

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

  async function ofPerson(agentId: string, { kind, id }: Actor, person: string): Promise<Budget[]> {
    const key = kind === 'key' && id !== null ? id : undefined
    const limits = await findLimits(platform, { agentId, key, person })
    const [ofKey, onAgent] = [amountOf(limits.ofKey), amountOf(limits.ofPerson)]
    return [
      ...(key !== undefined && ofKey ? [{ of: 'key', key, ...ofKey } as const] : []),
      ...(onAgent ? [{ of: 'person', agentId, person, ...onAgent } as const] : []),
    ]
  }

  /** Without this, a schedule or a workflow would bypass the budget of the person who made it. */
  async function ofPayer(agentId: string, { kind }: Actor, email: string | null): Promise<Budget[]> {
    if (ofEach === undefined) return []
    if (email !== null) return [{ of: 'everywhere', person: email, ...ofEach }]
    const owner = kind === 'schedule' || kind === 'workflow' ? await findOwner(platform, agentId) : null
    return owner === null ? [] : [{ of: 'owner', person: owner, ...ofEach }]
  }

  return {
    /**
     * Returns the budgets that the actor's turns count against. Those with fewer sharers come first: a turn refused by one
     * reserves nothing in the others. One statement reserves each budget, so that no turn waits for another's locks.
     */
    async of(spending: Spending, actor: Actor): Promise<Budget[]> {
      const { agentId, settings, paidBy } = spending
      const found: Budget[] = []
      const own = amountOf(settings)
      if (own) found.push({ of: 'agent', agentId, ...own })
      const email = actor.person ?? (actor.kind === 'person' ? actor.id : null)
      if (email !== null) found.push(...(await ofPerson(agentId, actor, email)))
      if (paidBy === 'platform') found.push(...(await ofPayer(agentId, actor, email)))
      if (paidBy === 'platform' && ofAll) found.push({ of: 'platform', ...ofAll })
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
  everywhere: { budget: 'your budget over all agents', remedy: remedyOf('BUDGET_PERSON') },
  owner: { budget: "the budget over all agents of this agent's owner", remedy: remedyOf('BUDGET_PERSON') },
  platform: { budget: "the budget of this service's own model credentials", remedy: remedyOf('BUDGET') },
} satisfies Record<Budget['of'], unknown>

function remedyOf(prefix: string): string {
  return `the operator can raise ${prefix}_MONTHLY_TOKENS or ${prefix}_MONTHLY_USD, and agents with a model key of their own still answer`
}
