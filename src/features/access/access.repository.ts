import type { Kysely, SelectQueryBuilder } from 'kysely'
import { text } from '#platform/columns.ts'
import { describeChange } from '#platform/current-change.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import { type ListParameters, listRows } from '#platform/http/lists/list-query.ts'
import { prepareQuery, type ValueOf } from '#platform/prepared-query.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import { accessTables } from '#storage/tables/access.ts'
import { agentRecordTables } from '#storage/tables/agents.ts'
import type { PlatformTables } from '#storage/tables.ts'
import type { AdminChanges, AdminEntry } from './access.schema.ts'
import type { createGivenRoles } from './given-roles.ts'
import type { Role } from './policy.ts'
import type { KnownRole } from './role-memory.ts'

type Database = Kysely<PlatformTables>

const adminList = listOf(accessTables.columns.agent_admins, {
  sortable: ['id', 'email', 'role', 'created_at'],
  searchable: ['email'],
  order: 'asc',
})

type OwnAgent = Pick<PlatformTables['agents'], 'id' | 'name' | 'created_at'> & { role: string }

const ownAgentList = listOf(
  { ...agentRecordTables.columns.agents, role: text },
  { sortable: ['id', 'name', 'role', 'created_at'], searchable: ['name'], by: ['name'], order: 'asc' },
)

/** Lists a subquery whose `role` is a column like any other, whether it is stored or constant. */
function listAgents(
  database: Database,
  agents: SelectQueryBuilder<PlatformTables, 'agents', OwnAgent>,
  parameters: ListParameters,
) {
  const query = database.selectFrom(agents.as('agents')).select(['id', 'name', 'role', 'created_at'])
  return listRows(query, ownAgentList, parameters)
}

const selectRole = prepareQuery((database: Database, value: ValueOf<'agentId' | 'email'>) =>
  database
    .selectFrom('agents')
    .leftJoin('agent_admins', join =>
      join.onRef('agent_admins.agent_id', '=', 'agents.id').on('agent_admins.email', '=', value('email')),
    )
    .select(({ ref }) => ref('agent_admins.role').$castTo<Role | null>().as('role'))
    .where('agents.id', '=', value('agentId')),
)

/** Returns false, and inserts nothing, if the e-mail address already has an entry on the agent. */
async function insertAdmin(database: Database, agentId: string, admin: AdminEntry): Promise<boolean> {
  const inserted = await inTransaction(database, transaction =>
    transaction
      .insertInto('agent_admins')
      .values(({ selectFrom }) => ({
        ...admin,
        agent_id: agentId,
        agent_created_at: selectFrom('agents').select('created_at').where('id', '=', agentId),
      }))
      .onConflict(conflict => conflict.columns(['agent_id', 'email']).doNothing())
      .returning('id')
      .executeTakeFirst(),
  )
  return inserted !== undefined
}

function selectEntries(database: Database, agentId: string) {
  return database
    .selectFrom('agent_admins')
    .select(({ ref }) => ['id', 'email', ref('role').$castTo<Role>().as('role'), 'created_at'])
    .select(['monthly_tokens', 'monthly_usd'])
    .select(({ selectFrom }) =>
      (['proved_by', 'invited_by'] as const).map(column =>
        selectFrom('people').select(column).whereRef('people.email', '=', 'agent_admins.email').as(column),
      ),
    )
    .where('agent_id', '=', agentId)
}

/** Admin entries in the platform database. */
export function createAccessRepository(database: Database) {
  return {
    /** Returns the role of the e-mail address on the agent; undefined if there is no such agent. */
    async findRole(agentId: string, email: string): Promise<KnownRole | undefined> {
      return (await selectRole(database, { agentId, email }))[0]
    },

    listAdmins: (agentId: string, parameters: ListParameters) =>
      listRows(selectEntries(database, agentId), adminList, parameters),

    /** @param only ids of the agents to list; defaults to all */
    listOwnAgents(email: string, only: readonly string[] | undefined, parameters: ListParameters) {
      const query = database
        .selectFrom('agent_admins')
        .innerJoin('agents', 'agents.id', 'agent_admins.agent_id')
        .select(['agents.id', 'agents.name', 'agent_admins.role', 'agents.created_at'])
        .where('agent_admins.email', '=', email)
        .$if(only !== undefined, own => own.where('agents.id', 'in', only ?? []))
      return listAgents(database, query, parameters)
    },

    /** Lists the one agent that callers without a user can reach, with their role on it. */
    listPublicAgents(agentId: string, role: Role, parameters: ListParameters) {
      const query = database
        .selectFrom('agents')
        .select(({ val }) => ['agents.id', 'agents.name', val<string>(role).as('role'), 'agents.created_at'])
        .where('agents.id', '=', agentId)
      return listAgents(database, query, parameters)
    },

    findAdmin: (agentId: string, column: 'id' | 'email', value: string): Promise<AdminEntry | undefined> =>
      selectEntries(database, agentId).where(column, '=', value).executeTakeFirst(),

    async updateAdmin(
      agentId: string,
      adminId: string,
      changes: AdminChanges,
    ): Promise<AdminEntry | undefined> {
      const changed = await inTransaction(database, transaction =>
        transaction
          .updateTable('agent_admins')
          .set(changes)
          .where('agent_id', '=', agentId)
          .where('id', '=', adminId)
          .returning('id')
          .executeTakeFirst(),
      )
      return changed && selectEntries(database, agentId).where('id', '=', adminId).executeTakeFirst()
    },

    insertAdmin: (agentId: string, admin: AdminEntry) => insertAdmin(database, agentId, admin),

    /** Deletes the entry unless it is the agent's last owner; atomic, so that two owners can't remove each other at once. */
    deleteAdmin(agentId: string, adminId: string): Promise<boolean> {
      return inTransaction(database, async transaction => {
        const removed = await transaction
          .deleteFrom('agent_admins')
          .where('agent_id', '=', agentId)
          .where('id', '=', adminId)
          .where(({ or, eb, exists, selectFrom }) =>
            or([
              eb('role', '!=', 'owner'),
              exists(
                selectFrom('agent_admins as others')
                  .select('others.id')
                  .where('others.agent_id', '=', agentId)
                  .where('others.role', '=', 'owner')
                  .where('others.id', '!=', adminId),
              ),
            ]),
          )
          .returning(['email', 'role'])
          .executeTakeFirst()
        if (removed === undefined) return false
        describeChange({ email: removed.email, role: { from: removed.role, to: null } })
        return true
      })
    },
  }
}

export type AccessRepository = ReturnType<typeof createAccessRepository> & ReturnType<typeof createGivenRoles>
