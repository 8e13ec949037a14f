import { integer, partOf, text, unique, withDefault } from '#platform/columns.ts'
import { declarePlatformTables } from './table-set.ts'

/** Agents, their settings and secrets. */
export const agentRecordTables = declarePlatformTables({
  agents: {
    columns: {
      id: text,
      name: text,
      /** The name in lower case: unique, so that no two agents differ by letter case alone. */
      name_key: unique(text),
      description: text,
      status: text,
      /** JSON object of the settings keys that are set; credentials are never among them. */
      settings: text,
      /** 1 once its database was created. */
      has_database: withDefault(integer, 0),
      created_at: text,
      updated_at: text,
    },
    agent: 'id',
  },
  agent_credentials: {
    columns: {
      agent_id: partOf('agents'),
      name: text,
      /** Ciphertext of the secret box. */
      sealed: text,
    },
    agent: 'agent_id',
    key: ['agent_id', 'name'],
  },
  /** Secrets that belong to rows of an agent's own database, such as tools: out of reach of that database's SQL. */
  agent_secrets: {
    columns: {
      agent_id: partOf('agents'),
      /** Identifies a set of secrets; the row that it belongs to refers to it by this id. */
      set_id: text,
      name: text,
      /** Ciphertext of the secret box. */
      sealed: text,
    },
    agent: 'agent_id',
    key: ['agent_id', 'set_id', 'name'],
  },
  /** Deleted agents whose database still has to be removed. */
  agent_removals: {
    columns: {
      agent_id: text,
    },
    instead: 'the databases that it names are not copied',
    key: ['agent_id'],
  },
})
