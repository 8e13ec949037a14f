import { defineAgentTables, readable } from './table-set.ts'

/** MCP servers and what they offer. */
export interface McpTables {
  mcp_servers: McpServersTable
  mcp_tools: McpToolsTable
}

interface McpServersTable {
  id: string
  name: string
  url: string
  auth_type: string
  /** The set of its secrets; null without any. */
  secret_set: string | null
  status: string
  /** Why the last attempt to reach it failed, as a sentence for a person; null if it did not. */
  error: string | null
  created_at: string
  updated_at: string
}

/** Tools that an MCP server has listed; those that it no longer lists are kept, so that their approval is not lost. */
interface McpToolsTable {
  server_id: string
  name: string
  description: string
  /** JSON Schema of the arguments. */
  parameters: string
  /** Position in the server's list, from 0; null for a tool that is no longer listed. */
  position: number | null
  /** SHA-256 of the definition as the server lists it now, in hex. */
  definition_hash: string
  /** The hash that a person has approved; null for a tool that nobody has reviewed yet. */
  approved_hash: string | null
}

export const mcpTables = defineAgentTables<McpTables>({
  rules: {
    mcp_servers: { sql: readable, copy: { key: ['id'] } },
    mcp_tools: { sql: readable, copy: { key: ['server_id', 'name'] } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('mcp_servers')
      .addColumn('id', parts.textType, column => column.primaryKey())
      .addColumn('name', parts.textType, column => column.notNull().unique())
      .addColumn('url', parts.textType, column => column.notNull())
      .addColumn('auth_type', parts.textType, column => column.notNull())
      .addColumn('secret_set', parts.textType)
      .addColumn('status', parts.textType, column => column.notNull())
      .addColumn('error', parts.textType)
      .addColumn('created_at', parts.textType, column => column.notNull())
      .addColumn('updated_at', parts.textType, column => column.notNull())
      .execute()
    await db.schema
      .createTable('mcp_tools')
      .addColumn('server_id', parts.textType, column =>
        column.notNull().references('mcp_servers.id').onDelete('cascade'),
      )
      .addColumn('name', parts.textType, column => column.notNull())
      .addColumn('description', parts.textType, column => column.notNull())
      .addColumn('parameters', parts.textType, column => column.notNull())
      .addColumn('position', 'integer')
      .addColumn('definition_hash', parts.textType, column => column.notNull())
      .addColumn('approved_hash', parts.textType)
      .addPrimaryKeyConstraint('mcp_tools_key', ['server_id', 'name'])
      .execute()
  },
})
