import { integer, since, text, textOrNull } from '#platform/columns.ts'
import { declareAgentTables, hidden, readable } from './table-set.ts'

export const toolTables = declareAgentTables({
  /** The tools that people have given an agent: HTTP calls, JavaScript, tools of MCP servers. */
  tools: {
    sql: readable,
    columns: {
      id: text,
      name: text,
      description: text,
      type: text,
      /** JSON object; its secrets are in the platform database. */
      configuration: text,
      is_enabled: integer,
      /** 0: none; 1: while the conversation contains text from outsiders; 2: always. */
      requires_approval: integer,
      /** Empty for a tool without a cluster; names are unique within a cluster. */
      cluster: text,
      /** The set of its secrets; null without any. */
      secret_set: textOrNull,
      created_at: text,
      updated_at: text,
      /** `chat`: the role of that name decides on calls of its own turns, too; else admins and owners alone. */
      approvers: since('0032-authors', textOrNull),
    },
    together: { cluster_name: ['cluster', 'name'] },
  },
  /** Credentials that the tools of a cluster present to the service they call, as named in its OpenAPI document. */
  tool_credentials: {
    sql: hidden,
    columns: {
      cluster: text,
      name: text,
      /** JSON object: how it is presented, see `SecurityScheme`. */
      scheme: text,
      /** The set of its secrets; null until a person has filled it in. */
      secret_set: textOrNull,
      created_at: text,
      updated_at: text,
    },
    key: ['cluster', 'name'],
  },
})
