import type { Kysely } from 'kysely'
import { describeChange } from '#platform/current-change.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { PlatformTables } from '#storage/tables.ts'
import { type Role, roles } from './policy.ts'

type Database = Kysely<PlatformTables>

/** Roles from an invitation or from a person's groups, by agent id. */
export type GivenRoles = readonly { id: string; role: Role }[]

interface Gift {
  email: string
  given: GivenRoles
  /** True if the roles replace earlier ones from groups. Otherwise each is added where the person has no higher role. */
  byGroups: boolean
  newEntry(): { id: string; created_at: string }
}

export function createGivenRoles(database: Database) {
  const entriesOf = (email: string) =>
    database.selectFrom('agent_admins').select('email').where('email', '=', email)

  return {
    hasRoles: async (email: string) => (await entriesOf(email).limit(1).execute()).length > 0,

    /** Returns whether the address is proved, or its person has keys, which outlive the sign-in. */
    async isKnown(email: string): Promise<boolean> {
      const keys = database.selectFrom('api_keys').select('creator as email').where('creator', '=', email)
      const proved = database.selectFrom('people').select('email').where('email', '=', email)
      const known = proved.where('proved_by', 'is not', null).union(keys.where('revoked_at', 'is', null))
      return (await known.limit(1).execute()).length > 0
    },

    /** Returns the changes, including those refused to protect an agent's last owner. */
    giveRoles: (gift: Gift) =>
      inTransaction(database, async transaction => {
        const changes = await changesBy(transaction, gift)
        for (const change of changes) await make(transaction, gift, change)
        return changes
      }),
  }
}

type Change = Awaited<ReturnType<typeof changesBy>>[number]

async function make(transaction: Database, gift: Gift, change: Change): Promise<void> {
  const { agent_id, agent_created_at, entry, held, role, isLastOwner } = change
  const { email, byGroups } = gift
  if (isLastOwner)
    return describeChange({ email, role: { from: held, to: held }, last_owner: 'kept' }, agent_id)
  describeChange({ email, role: { from: held, to: role ?? null } }, agent_id)
  const by_groups = byGroups ? 1 : null
  if (role === undefined) await transaction.deleteFrom('agent_admins').where('id', '=', entry).execute()
  else
    await transaction
      .insertInto('agent_admins')
      .values({ ...gift.newEntry(), agent_id, agent_created_at, email, role, by_groups })
      .onConflict(conflict => conflict.columns(['agent_id', 'email']).doUpdateSet({ role, by_groups }))
      .execute()
}

/** Returns the entries to change. Entries without a role are removed, except the last owner's. */
async function changesBy(database: Database, { email, given, byGroups }: Gift) {
  const ids = ['', ...given.map(({ id }) => id)]
  const agents = await database
    .selectFrom('agents')
    .leftJoin('agent_admins', on => on.onRef('agent_id', '=', 'agents.id').on('email', '=', email))
    .select(['agents.id as agent_id', 'agents.created_at as agent_created_at'])
    .select(['agent_admins.id as entry', 'role as held', 'by_groups'])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('agent_admins as others')
          .select('others.id')
          .whereRef('others.agent_id', '=', 'agents.id')
          .where('others.role', '=', 'owner')
          .where('others.email', '!=', email),
      ).as('hasOtherOwner'),
    )
    .where(({ or, eb }) => or([eb('agents.id', 'in', ids), eb('by_groups', '=', 1)]))
    .execute()
  const offered = agents.map(agent => {
    const gifts = given.filter(({ id }) => id === agent.agent_id).map(({ role }) => role)
    const role = roles.find(role => gifts.includes(role))
    return { ...agent, role, isLastOwner: agent.held === 'owner' && !agent.hasOtherOwner }
  })
  return offered.filter(({ entry, held, role, by_groups }) => {
    if (role === held || (role === undefined && entry === null)) return false
    const isHigher = role !== undefined && roles.indexOf(role) < roles.indexOf(held as Role)
    return entry === null || (byGroups ? by_groups === 1 : isHigher)
  })
}
