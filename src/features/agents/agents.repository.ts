import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import { removeAuditRows } from '#features/audit/audit.service.ts'
import { textOrNull } from '#platform/columns.ts'
import { listByPlaces } from '#platform/http/lists/list-large.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import { agentRecordTables } from '#storage/tables/agents.ts'
import type { AgentTables, PlatformTables } from '#storage/tables.ts'
import type { AgentListQuery, AgentStatus } from './agents.schema.ts'
import type { StoredSettings } from './settings.schema.ts'

/** An agent's row in the platform database. */
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

interface AgentUpdate {
  name?: string
  description?: string
  status?: AgentStatus
  updated_at: string
}

const { agents } = agentRecordTables.columns

const agentList = listOf(
  { ...agents, owner_email: textOrNull },
  {
    sortable: ['id', 'name', 'description', 'status', 'owner_email', 'created_at', 'updated_at'],
    searchable: ['name', 'description'],
    order: 'asc',
  },
)

/** The list without parameters, in the order of an index. */
const plainList = listOf(agents, { sortable: ['created_at'], order: 'asc' })

const summaryColumns = ['id', 'name', 'description', 'status', 'created_at', 'updated_at'] as const

/** Selects agents with the e-mail of their earliest owner. */
function selectAgents(database: Kysely<PlatformTables>) {
  return database
    .selectFrom('agents')
    .select(({ ref, selectFrom }) => [
      'agents.id',
      'agents.name',
      'agents.description',
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

/** The agents that a caller can reach. */
export interface Reach {
  /** The e-mail of the user, or of the creator of an agent's key; undefined for other callers without a user. */
  email: string | undefined
  /** Ids of the agents that a key is limited to; undefined for no limit. */
  only: readonly string[] | undefined
}

/** Selects ids and ages of the agents that a user has an entry on, and of the one that is open to all. */
function selectReachable(database: Kysely<PlatformTables>, { email, only }: Reach, openAgentId: string) {
  const own = database
    .selectFrom('agent_admins')
    .select(({ ref }) => ['agent_id as id', ref('agent_created_at').$castTo<string>().as('created_at')])
    .where('email', '=', email ?? '')
    .where('agent_id', '!=', openAgentId)
  const open = database.selectFrom('agents').select(['id', 'created_at']).where('id', '=', openAgentId)
  if (only === undefined) return own.unionAll(open)
  return own.where('agent_id', 'in', only).unionAll(open.where('id', 'in', only))
}

function isNameFree(nameKey: string, id: string) {
  return ({ not, exists, selectFrom }: ExpressionBuilder<PlatformTables, 'agents'>) =>
    not(
      exists(
        selectFrom('agents as others')
          .select('others.id')
          .where('others.name_key', '=', nameKey)
          .where('others.id', '!=', id),
      ),
    )
}

/** Lists the agents that a user has an entry on, and the one that is open to all. */
function listReachable(
  database: Kysely<PlatformTables>,
  reach: Reach,
  openAgentId: string,
  parameters: AgentListQuery,
) {
  const reachable = selectReachable(database, reach, openAgentId)
  const reading = {
    key: 'id' as const,
    read: (ids: readonly string[]) => selectAgents(database).where('agents.id', 'in', ids).execute(),
  }
  const { status, sort, search } = parameters
  if (status === undefined && sort === undefined && !search) {
    const places = database.selectFrom(reachable.as('agents')).select(['id', 'created_at'])
    return listByPlaces(places, plainList, parameters, reading)
  }
  // Selecting by ids costs nothing for agents of others, unlike a condition on each agent.
  const ids = database.selectFrom(reachable.as('reachable')).select('id')
  const agents = selectAgents(database).where('agents.id', 'in', ids)
  const wanted = status ? agents.where('agents.status', 'in', status) : agents
  // The owner is computed for each agent found, so only if the sort needs it.
  const sortsByOwner = sort?.some(fields => fields.includes('owner_email'))
  const owner = sortsByOwner ? sql.ref<string | null>('owner_email') : sql<null>`null`
  // A list's columns are those of its subquery.
  const places = database.selectFrom(wanted.as('agents')).select([...summaryColumns, owner.as('owner_email')])
  return listByPlaces(places, agentList, parameters, reading)
}

/** Agents in the platform database. */
export function createAgentsRepository(database: Kysely<PlatformTables>) {
  return {
    listReachable: (reach: Reach, openAgentId: string, parameters: AgentListQuery) =>
      listReachable(database, reach, openAgentId, parameters),

    async find(id: string): Promise<AgentRecord | undefined> {
      const row = await selectAgents(database)
        .select('agents.settings')
        .where('agents.id', '=', id)
        .executeTakeFirst()
      return row === undefined ? undefined : { ...row, settings: JSON.parse(row.settings) as StoredSettings }
    },

    findNamed: (name: string) =>
      selectAgents(database).where('agents.name_key', '=', name.toLowerCase()).executeTakeFirst(),

    /**
     * Inserts the agent together with its owner; only the agent that is open to all has none. Returns false, and inserts
     * nothing, if its name is taken.
     */
    insert(agent: Omit<AgentRecord, 'owner_email'>, owner?: { id: string; email: string }): Promise<boolean> {
      return inTransaction(database, async transaction => {
        const row = { ...agent, name_key: agent.name.toLowerCase(), settings: JSON.stringify(agent.settings) }
        const inserted = await transaction
          .insertInto('agents')
          .values(row)
          .onConflict(conflict => conflict.doNothing())
          .returning('id')
          .executeTakeFirst()
        if (inserted === undefined) return false
        if (owner === undefined) return true
        const { id: agent_id, created_at } = agent
        const entry = { ...owner, agent_id, agent_created_at: created_at, role: 'owner', created_at }
        await transaction.insertInto('agent_admins').values(entry).execute()
        return true
      })
    },

    /** Returns false, and changes nothing, if another agent has the name. */
    update(id: string, changes: AgentUpdate): Promise<boolean> {
      const name_key = changes.name?.toLowerCase()
      // Without a transaction, two simultaneous updates to the same name would both find it free.
      return inTransaction(database, async transaction => {
        const result = await transaction
          .updateTable('agents')
          .set({ ...changes, ...(name_key === undefined ? {} : { name_key }) })
          .where('id', '=', id)
          .where(isNameFree(name_key ?? '', id))
          .executeTakeFirst()
        return result.numUpdatedRows > 0n
      })
    },

    /**
     * Deletes the agent with its admins and credentials, and records that its database must still be removed. Returns false if
     * there is no such agent any more.
     */
    remove(id: string): Promise<boolean> {
      return inTransaction(database, async transaction => {
        const { numDeletedRows } = await transaction
          .deleteFrom('agents')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
        if (numDeletedRows === 0n) return false
        await transaction.insertInto('agent_removals').values({ agent_id: id }).execute()
        return true
      })
    },

    /** Lists agents whose database was not yet removed when the process ended. */
    async listRemoving(): Promise<string[]> {
      const rows = await database.selectFrom('agent_removals').select('agent_id').execute()
      return rows.map(row => row.agent_id)
    },

    async finishRemoving(id: string): Promise<void> {
      await removeAuditRows(database, ['agent_id', '=', id])
      await database.deleteFrom('agent_removals').where('agent_id', '=', id).execute()
    },
  }
}

export type AgentsRepository = ReturnType<typeof createAgentsRepository>

/** Counts the records in an agent's own database. */
export async function countRecords(database: Kysely<AgentTables>) {
  const countOf = async (table: 'messages' | 'contacts' | 'workflows' | 'schedules') => {
    const counted = database.selectFrom(table).select(({ fn }) => fn.countAll<number>().as('rows'))
    return Number((await counted.executeTakeFirstOrThrow()).rows)
  }
  const [messages, contacts, workflows, schedules] = await Promise.all([
    countOf('messages'),
    countOf('contacts'),
    countOf('workflows'),
    countOf('schedules'),
  ])
  return { workflows, schedules, contacts, messages }
}
