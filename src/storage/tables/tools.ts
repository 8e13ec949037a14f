import { defineAgentTables, hidden, readable } from './table-set.ts'

/** The tools that people give an agent. */
export interface ToolTables {
  tools: ToolsTable
  tool_credentials: ToolCredentialsTable
}

/** The tools that people have given an agent: HTTP calls, JavaScript, tools of MCP servers. */
interface ToolsTable {
  id: string
  name: string
  description: string
  type: string
  /** JSON object; its secrets are in the platform database. */
  configuration: string
  is_enabled: number
  requires_approval: number
  /** Empty for a tool without a cluster; names are unique within a cluster. */
  cluster: string
  /** The set of its secrets; null without any. */
  secret_set: string | null
  created_at: string
  updated_at: string
}

/** Credentials that the tools of a cluster present to the service they call, as named in its OpenAPI document. */
interface ToolCredentialsTable {
  cluster: string
  name: string
  /** JSON object: how it is presented, see `SecurityScheme`. */
  scheme: string
  /** The set of its secrets; null until a person has filled it in. */
  secret_set: string | null
  created_at: string
  updated_at: string
}

export const toolTables = defineAgentTables<ToolTables>({
  rules: {
    tools: { sql: readable, copy: { key: ['id'] } },
    tool_credentials: { sql: hidden, copy: { key: ['cluster', 'name'] } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('tools')
      .addColumn('id', parts.textType, column => column.primaryKey())
      .addColumn('name', parts.textType, column => column.notNull())
      .addColumn('description', parts.textType, column => column.notNull())
      .addColumn('type', parts.textType, column => column.notNull())
      .addColumn('configuration', parts.textType, column => column.notNull())
      .addColumn('is_enabled', 'integer', column => column.notNull())
      .addColumn('requires_approval', 'integer', column => column.notNull())
      .addColumn('cluster', parts.textType, column => column.notNull())
      .addColumn('secret_set', parts.textType)
      .addColumn('created_at', parts.textType, column => column.notNull())
      .addColumn('updated_at', parts.textType, column => column.notNull())
      .addUniqueConstraint('tools_cluster_name', ['cluster', 'name'])
      .execute()
    await db.schema
      .createTable('tool_credentials')
      .addColumn('cluster', parts.textType, column => column.notNull())
      .addColumn('name', parts.textType, column => column.notNull())
      .addColumn('scheme', parts.textType, column => column.notNull())
      .addColumn('secret_set', parts.textType)
      .addColumn('created_at', parts.textType, column => column.notNull())
      .addColumn('updated_at', parts.textType, column => column.notNull())
      .addPrimaryKeyConstraint('tool_credentials_key', ['cluster', 'name'])
      .execute()
  },
})
