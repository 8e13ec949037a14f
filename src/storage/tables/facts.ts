import { text } from '#platform/columns.ts'
import { declareAgentTables, declarePlatformTables, hidden } from './table-set.ts'

/** Single values by name, such as the check value of the encryption key. */
const columns = { name: text, value: text }

/** The name of the fact that a person has signed in. */
export const firstSignInFact = 'first_sign_in'

/** The first tables of the platform. */
export const platformFactTables = declarePlatformTables(
  { platform_facts: { columns, key: ['name'] } },
  { create: (db, parts) => parts.createFoldCase(db) },
)

/** The first tables of an agent. */
export const agentFactTables = declareAgentTables(
  { agent_facts: { sql: hidden, columns, key: ['name'] } },
  { create: (db, parts) => parts.createFoldCase(db) },
)
