import type { Kysely } from 'kysely'
import type { ListDefinition } from '#platform/http/list-query.ts'
import { listRows } from '#platform/http/list-query.ts'
import type { AgentTables, PlatformTables } from '#storage/tables.ts'
import type { AgentListQuery, AgentStatus, AgentSummary } from './agents.schema.ts'
import type { StoredSettings } from './settings.schema.ts'

/** An agent as the platform database has it. */
export interface AgentRecord {
  id: string
  name: string
  description: string
  status: AgentStatus
  owner_email: string | null
  settings: StoredSettings
  created_at: string
  updated_at: string
}

const agentList: ListDefinition<AgentSummary> = {
  sortable: {
    name: { column: 'name' },
    description: { column: 'description' },
    status: { column: 'status' },
    created_at: { column: 'agents.created_at' },
    updated_at: { column: 'updated_at' },
  },
  defaultSort: 'created_at',
  defaultOrder: 'asc',
  searchable: ['name', 'description'],
  dateColumn: 'agents.created_at',
  uniqueColumn: 'agents.id',
  valueOf: (row, column) => row[column.replace('agents.', '') as keyof AgentSummary] ?? '',
}

/** Agents with the e-mail of their earliest owner. */
function selectAgents(database: Kysely<PlatformTables>) {
  return database
    .selectFrom('agents')
    .select(({ ref, selectFrom, fn, val }) => [
      'agents.id',
      'agents.name',
      fn.coalesce('agents.description', val('')).as('description'),
      ref('agents.status').$castTo<AgentStatus>().as('status'),
      'agents.created_at',
      'agents.updated_at',
      selectFrom('agent_admins')
        .select('email')
        .whereRef('agent_admins.agent_id', '=', 'agents.id')
        .where('role', '=', 'owner')
        .orderBy('agent_admins.created_at')
        .limit(1)
        .as('owner_email'),
    ])
}

function selectReachable(database: Kysely<PlatformTables>, email: string | undefined, openAgentId: string) {
  return selectAgents(database).where(({ eb, or, exists, selectFrom }) =>
    or([
      eb('agents.id', '=', openAgentId),
      exists(
        selectFrom('agent_admins')
          .select('agent_admins.id')
          .whereRef('agent_admins.agent_id', '=', 'agents.id')
          .where('agent_admins.email', '=', email ?? ''),
      ),
    ]),
  )
}

/** Agents in the platform database. */
export function createAgentsRepository(database: Kysely<PlatformTables>) {
  return {
    /** The agents that a user has an entry on, and the one that is open to all. */
    listReachable(email: string | undefined, openAgentId: string, parameters: AgentListQuery) {
      const reachable = selectReachable(database, email, openAgentId)
      const { status } = parameters
      return listRows(
        status ? reachable.where('agents.status', 'in', status) : reachable,
        agentList,
        parameters,
      )
    },

    async find(id: string): Promise<AgentRecord | undefined> {
      const row = await selectAgents(database)
        .select('agents.settings')
        .where('agents.id', '=', id)
        .executeTakeFirst()
      return row === undefined ? undefined : { ...row, settings: JSON.parse(row.settings) as StoredSettings }
    },

    /** Inserts the agent together with its owner; without one only for the agent that is open to all. */
    async insert(
      agent: Omit<AgentRecord, 'owner_email'>,
      owner?: { id: string; email: string },
    ): Promise<void> {
      await database.transaction().execute(async transaction => {
        const row = { ...agent, settings: JSON.stringify(agent.settings) }
        await transaction.insertInto('agents').values(row).execute()
        if (owner === undefined) return
        const entry = { ...owner, agent_id: agent.id, role: 'owner', created_at: agent.created_at }
        await transaction.insertInto('agent_admins').values(entry).execute()
      })
    },

    async update(
      id: string,
      changes: { name?: string; description?: string; status?: AgentStatus; updated_at: string },
    ) {
      await database.updateTable('agents').set(changes).where('id', '=', id).execute()
    },

    /** Forgets the agent, and remembers that its database is still to be removed. */
    async remove(id: string): Promise<void> {
      await database.transaction().execute(async transaction => {
        await transaction
          .insertInto('platform_facts')
          .values({ name: `removing:${id}`, value: '' })
          .execute()
        for (const table of ['agent_admins', 'agent_credentials', 'wake_ups'] as const)
          await transaction.deleteFrom(table).where('agent_id', '=', id).execute()
        await transaction.deleteFrom('agents').where('id', '=', id).execute()
      })
    },

    /** Agents whose database was not yet removed when the process ended. */
    async listRemoving(): Promise<string[]> {
      const rows = await database
        .selectFrom('platform_facts')
        .select('name')
        .where('name', 'like', 'removing:%')
        .execute()
      return rows.map(row => row.name.slice('removing:'.length))
    },

    async finishRemoving(id: string): Promise<void> {
      await database.deleteFrom('platform_facts').where('name', '=', `removing:${id}`).execute()
    },
  }
}

export type AgentsRepository = ReturnType<typeof createAgentsRepository>

/** Counts what an agent's own database holds. Areas without a table yet have nothing to count. */
export async function countRecords(database: Kysely<AgentTables>) {
  const { messages } = await database
    .selectFrom('messages')
    .select(({ fn }) => fn.countAll<number>().as('messages'))
    .executeTakeFirstOrThrow()
  return { workflows: 0, schedules: 0, contacts: 0, messages: Number(messages) }
}
