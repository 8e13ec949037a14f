import { integerOrNull, partOf, since, text, textOrNull, unique } from '#platform/columns.ts'
import { declareAgentTables, readable } from './table-set.ts'

/** MCP servers and their tools. */
export const mcpTables = declareAgentTables({
  mcp_servers: {
    sql: readable,
    columns: {
      id: text,
      name: unique(text),
      url: text,
      auth_type: text,
      /** The set of its secrets; null without any. */
      secret_set: textOrNull,
      status: text,
      /** The reason of the last attempt's failure, as a sentence for a person; null after a success. */
      error: textOrNull,
      created_at: text,
      updated_at: text,
    },
  },
  /** Tools that an MCP server has listed; those that it no longer lists are kept, so that their approval is not lost. */
  mcp_tools: {
    sql: readable,
    columns: {
      server_id: partOf('mcp_servers'),
      name: text,
      description: text,
      /** JSON Schema of the arguments. */
      parameters: text,
      /** Position in the server's list, from 0; null for a tool that is no longer listed. */
      position: integerOrNull,
      /** SHA-256 of the definition as the server lists it now, in hex. */
      definition_hash: text,
      /** The hash that a person has approved; null for a tool without a review. */
      approved_hash: textOrNull,
      /** The texts of the definition that was approved, kept from the moment it changes; null if it never has. */
      approved_description: since('0033-mcp-approved', textOrNull),
      approved_parameters: since('0033-mcp-approved', textOrNull),
    },
    key: ['server_id', 'name'],
  },
})
