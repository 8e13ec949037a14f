import { definePlatformTables } from './table-set.ts'

/** Who may do what. */
export interface AccessTables {
  agent_admins: AgentAdminsTable
}

interface AgentAdminsTable {
  id: string
  agent_id: string
  /** Lower case. */
  email: string
  role: string
  created_at: string
  /** That of the agent, for an index in this order; it never changes. */
  agent_created_at: string | null
}

export const accessTables = definePlatformTables<AccessTables>({
  rules: {
    agent_admins: { copy: { key: ['id'], agent: 'agent_id' } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('agent_admins')
      .addColumn('id', parts.textType, column => column.primaryKey())
      .addColumn('agent_id', parts.textType, column =>
        column.notNull().references('agents.id').onDelete('cascade'),
      )
      .addColumn('email', parts.textType, column => column.notNull())
      .addColumn('role', parts.textType, column => column.notNull())
      .addColumn('created_at', parts.textType, column => column.notNull())
      .addColumn('agent_created_at', parts.textType)
      .execute()
    await db.schema
      .createIndex('agent_admins_agent_email')
      .unique()
      .on('agent_admins')
      .columns(['agent_id', 'email'])
      .execute()
    // In the order in which a user's agents are listed, so that a page costs the same of any number.
    await db.schema
      .createIndex('agent_admins_email_agents')
      .on('agent_admins')
      .columns(['email', 'agent_created_at', 'agent_id'])
      .execute()
  },
})
