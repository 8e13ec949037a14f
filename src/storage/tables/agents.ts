import type { Generated } from 'kysely'
import { definePlatformTables } from './table-set.ts'

/** Agents, their settings and secrets. */
export interface AgentRecordTables {
  agents: AgentsTable
  agent_credentials: AgentCredentialsTable
  agent_secrets: AgentSecretsTable
  agent_removals: AgentRemovalsTable
}

interface AgentsTable {
  id: string
  name: string
  /** The name in lower case: unique, so that no two agents differ by letter case alone. */
  name_key: string
  description: string
  status: string
  /** JSON object of the settings keys that are set; credentials are never among them. */
  settings: string
  /** 1 once its database was created. */
  has_database: Generated<number>
  created_at: string
  updated_at: string
}

interface AgentCredentialsTable {
  agent_id: string
  name: string
  /** Ciphertext of the secret box. */
  sealed: string
}

/** Secrets that belong to rows of an agent's own database, such as tools: out of reach of that database's SQL. */
interface AgentSecretsTable {
  agent_id: string
  /** Identifies a set of secrets; the row that it belongs to refers to it by this id. */
  set_id: string
  name: string
  /** Ciphertext of the secret box. */
  sealed: string
}

/** Deleted agents whose database still has to be removed. */
interface AgentRemovalsTable {
  agent_id: string
}

export const agentRecordTables = definePlatformTables<AgentRecordTables>({
  rules: {
    agents: { copy: { key: ['id'], agent: 'id' } },
    agent_credentials: { copy: { key: ['agent_id', 'name'], agent: 'agent_id' } },
    agent_secrets: { copy: { key: ['agent_id', 'set_id', 'name'], agent: 'agent_id' } },
    agent_removals: { copy: { instead: 'the databases that it names are not copied' } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('agents')
      .addColumn('id', parts.textType, column => column.primaryKey())
      .addColumn('name', parts.textType, column => column.notNull())
      .addColumn('name_key', parts.textType, column => column.notNull().unique())
      .addColumn('description', parts.textType, column => column.notNull())
      .addColumn('status', parts.textType, column => column.notNull())
      .addColumn('settings', parts.textType, column => column.notNull())
      .addColumn('has_database', 'integer', column => column.notNull().defaultTo(0))
      .addColumn('created_at', parts.textType, column => column.notNull())
      .addColumn('updated_at', parts.textType, column => column.notNull())
      .execute()
    await db.schema
      .createTable('agent_credentials')
      .addColumn('agent_id', parts.textType, column =>
        column.notNull().references('agents.id').onDelete('cascade'),
      )
      .addColumn('name', parts.textType, column => column.notNull())
      .addColumn('sealed', parts.textType, column => column.notNull())
      .addPrimaryKeyConstraint('agent_credentials_key', ['agent_id', 'name'])
      .execute()
    await db.schema
      .createTable('agent_secrets')
      .addColumn('agent_id', parts.textType, column =>
        column.notNull().references('agents.id').onDelete('cascade'),
      )
      .addColumn('set_id', parts.textType, column => column.notNull())
      .addColumn('name', parts.textType, column => column.notNull())
      .addColumn('sealed', parts.textType, column => column.notNull())
      .addPrimaryKeyConstraint('agent_secrets_key', ['agent_id', 'set_id', 'name'])
      .execute()
    await db.schema
      .createTable('agent_removals')
      .addColumn('agent_id', parts.textType, column => column.primaryKey())
      .execute()
  },
})
