import type { FactsTable } from './facts.ts'
import { defineAgentTables, hidden } from './table-set.ts'

/** Single values of an agent, by name. */
export interface AgentFactTables {
  agent_facts: FactsTable
}

export const agentFactTables = defineAgentTables<AgentFactTables>({
  rules: {
    agent_facts: { sql: hidden, copy: { key: ['name'] } },
  },
  async create(db, parts) {
    await parts.createFoldCase(db)
    await db.schema
      .createTable('agent_facts')
      .addColumn('name', parts.textType, column => column.primaryKey())
      .addColumn('value', parts.textType, column => column.notNull())
      .execute()
  },
})
