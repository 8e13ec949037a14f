import { sql } from 'kysely'
import type { UsageDatabase } from './usage.repository.ts'

/** Tokens, and cost in billionths of a US dollar. */
export interface Amount {
  tokens: number
  cost: number
}

/**
 * The budget of a month: of an agent, an API key, or a person on an agent; for the platform's own model credentials, of
 * a person on all agents (`everywhere`, or `owner` of the agent for a turn that no person began), or of all turns (`platform`).
 */
export type Budget = Amount &
  (
    | { of: 'agent'; agentId: string }
    | { of: 'key'; key: string }
    | { of: 'person'; agentId: string; person: string }
    | { of: 'everywhere' | 'owner'; person: string }
    | { of: 'platform' }
  )

/** A reservation; `month` has the form 2026-11. */
export interface Held extends Amount {
  scope: string
  month: string
  slot: number
}

/**
 * A reservation counts in its slot of time and in the next one: so reservations of a process that died expire
 * without a row of their own.
 */
const slotMs = 10 * 60_000

export function scopeOf(budget: Budget): string {
  if (budget.of === 'platform') return 'platform'
  if (budget.of === 'key') return `key:${budget.key}`
  if (budget.of === 'agent') return `agent:${budget.agentId}`
  return `person:${budget.of === 'person' ? budget.agentId : '*'}:${budget.person}`
}

/**
 * Reserves an amount if the spent and reserved amounts are below the budget: one statement, which can overspend by at most
 * the amount. Returns undefined if the budget is spent.
 */
export async function reserve(
  database: UsageDatabase,
  budget: Budget,
  { tokens, cost }: Amount,
  now: number,
): Promise<Held | undefined> {
  const slot = Math.floor(now / slotMs)
  const place = { scope: scopeOf(budget), month: new Date(now).toISOString().slice(0, 7) }
  // Another process can be in a later slot.
  const isCurrent = sql<boolean>`slot >= ${slot}`
  const attempt = () =>
    database
      .updateTable('budgets')
      .set({
        former_tokens: sql<number>`case when ${isCurrent} then former_tokens else reserved_tokens end`,
        former_cost: sql<number>`case when ${isCurrent} then former_cost else reserved_cost end`,
        reserved_tokens: sql<number>`case when ${isCurrent} then reserved_tokens else 0 end + ${tokens}`,
        reserved_cost: sql<number>`case when ${isCurrent} then reserved_cost else 0 end + ${cost}`,
        slot: sql<number>`case when ${isCurrent} then slot else ${slot} end`,
      })
      .where('scope', '=', place.scope)
      .where('month', '=', place.month)
      .where('slot', '>=', slot - 1)
      .where(
        sql<boolean>`spent_tokens + reserved_tokens + case when ${isCurrent} then former_tokens else 0 end < ${budget.tokens}`,
      )
      .where(
        sql<boolean>`spent_cost + reserved_cost + case when ${isCurrent} then former_cost else 0 end < ${budget.cost}`,
      )
      .returning('slot')
      .executeTakeFirst()
  const held = await attempt()
  if (held !== undefined) return { ...place, tokens, cost, slot: held.slot }
  const { slot: reserved } = await spentOf(database, place.scope, place.month)
  if (reserved < slot - 1) await countAgain(database, budget, { ...place, slot })
  const again = await attempt()
  return again && { ...place, tokens, cost, slot: again.slot }
}

/**
 * Begins the row of a month with the usage so far, or restarts it after a long time without reservations: nothing was counted
 * while there was no budget. The spent amount never decreases: the usage of an agent is deleted with it.
 */
async function countAgain(
  database: UsageDatabase,
  budget: Budget,
  { scope, month, slot }: Pick<Held, 'scope' | 'month' | 'slot'>,
): Promise<void> {
  const none = sql<number>`0`
  const agentId = 'agentId' in budget ? budget.agentId : null
  const person = 'person' in budget ? budget.person : null
  const [tokens, cost] = ['everywhere', 'owner', 'platform'].includes(budget.of)
    ? ['platform_tokens', 'platform_cost']
    : ['input_tokens + output_tokens + estimated_tokens', 'cost']
  const used = database
    .selectFrom('usage')
    .select([
      sql<string>`cast(${scope} as text)`.as('scope'),
      sql<string>`cast(${month} as text)`.as('month'),
      sql<string | null>`cast(${agentId} as text)`.as('agent_id'),
      sql<number>`coalesce(sum(${sql.raw(tokens)}), 0)`.as('spent_tokens'),
      sql<number>`coalesce(sum(${sql.raw(cost)}), 0)`.as('spent_cost'),
      sql<number>`cast(${slot} as bigint)`.as('slot'),
      ...(['reserved_tokens', 'reserved_cost', 'former_tokens', 'former_cost'] as const).map(name =>
        none.as(name),
      ),
    ])
    .where('day', '>=', `${month}-01`)
    .where('day', '<=', `${month}-31`)
    .$if(budget.of === 'key', query => query.where('author', '=', scope))
    .$if(agentId !== null, query => query.where('agent_id', '=', agentId))
    .$if(person !== null, query => query.where('person', '=', person))
  await database
    .insertInto('budgets')
    .columns([
      ...(['scope', 'month', 'agent_id', 'spent_tokens', 'spent_cost', 'slot'] as const),
      ...(['reserved_tokens', 'reserved_cost', 'former_tokens', 'former_cost'] as const),
    ])
    .expression(used)
    .onConflict(conflict =>
      conflict
        .columns(['scope', 'month'])
        .doUpdateSet(({ ref }) => ({
          spent_tokens: larger('spent_tokens'),
          spent_cost: larger('spent_cost'),
          slot: ref('excluded.slot'),
          reserved_tokens: 0,
          reserved_cost: 0,
          former_tokens: 0,
          former_cost: 0,
        }))
        .where('budgets.slot', '<', slot - 1),
    )
    .execute()
}

function larger(column: 'spent_tokens' | 'spent_cost') {
  const [former, counted] = [sql.ref(`budgets.${column}`), sql.ref(`excluded.${column}`)]
  return sql<number>`case when ${former} > ${counted} then ${former} else ${counted} end`
}

/** Replaces a reservation by the spent amount; an expired reservation is not subtracted. */
export async function settle(database: UsageDatabase, held: Held, { tokens, cost }: Amount): Promise<void> {
  const of = (slot: number, amount: number) => sql<number>`case when slot = ${slot} then ${amount} else 0 end`
  const { slot } = held
  await database
    .updateTable('budgets')
    .set({
      spent_tokens: sql<number>`spent_tokens + ${tokens}`,
      spent_cost: sql<number>`spent_cost + ${cost}`,
      reserved_tokens: sql<number>`reserved_tokens - ${of(slot, held.tokens)}`,
      reserved_cost: sql<number>`reserved_cost - ${of(slot, held.cost)}`,
      former_tokens: sql<number>`former_tokens - ${of(slot + 1, held.tokens)}`,
      former_cost: sql<number>`former_cost - ${of(slot + 1, held.cost)}`,
    })
    .where('scope', '=', held.scope)
    .where('month', '=', held.month)
    .execute()
}

/** Returns the spent amount without reservations, and the slot of the last reservation. */
export async function spentOf(database: UsageDatabase, scope: string, month: string) {
  const row = await database
    .selectFrom('budgets')
    .select(['spent_tokens as tokens', 'spent_cost as cost', 'slot'])
    .where('scope', '=', scope)
    .where('month', '=', month)
    .executeTakeFirst()
  return row ?? { tokens: 0, cost: 0, slot: 0 }
}

/** Returns the budgets that are set for a key, and for a person on an agent. */
export async function findLimits(
  database: UsageDatabase,
  { agentId, key, person }: { agentId: string; key: string | undefined; person: string },
) {
  const [ofKey] =
    key === undefined
      ? []
      : await database
          .selectFrom('api_keys')
          .select(['monthly_tokens', 'monthly_usd'])
          .where('id', '=', key)
          .execute()
  const [ofPerson] = await database
    .selectFrom('agent_admins')
    .select(['monthly_tokens', 'monthly_usd'])
    .where('agent_id', '=', agentId)
    .where('email', '=', person)
    .execute()
  return { ofKey, ofPerson }
}

/** Returns the e-mail address of the agent's first owner; null without one. */
export async function findOwner(database: UsageDatabase, agentId: string): Promise<string | null> {
  const row = await database
    .selectFrom('agent_admins')
    .select('email')
    .where('agent_id', '=', agentId)
    .where('role', '=', 'owner')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.email ?? null
}
