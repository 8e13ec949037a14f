import type { CreateTableBuilder } from 'kysely'
import type { SchemaParts } from '../schema-parts.ts'
import { defineAgentTables, readable } from './table-set.ts'

/** Workflows, their versions, and what became of their executions. */
export interface WorkflowTables {
  workflows: WorkflowsTable
  workflow_versions: WorkflowVersionsTable
  executions: ExecutionsTable
  node_results: NodeResultsTable
}

interface WorkflowsTable {
  id: string
  name: string
  description: string
  status: string
  /** Of its nodes and edges. */
  version: number
  concurrency: number
  keep: string
  /** JSON: how it is offered to models; null if it is not. */
  tool: string | null
  /** SHA-256 of the token of its secret address; null without one. */
  hook_hash: string | null
  created_at: string
  updated_at: string
}

interface WorkflowVersionsTable {
  workflow_id: string
  version: number
  /** JSON. */
  nodes: string
  edges: string
  /** The set of the secrets of its nodes; null without any. */
  secret_set: string | null
  created_at: string
}

interface ExecutionsTable {
  id: string
  workflow_id: string
  version: number
  status: string
  /** Counts up with each process that takes it over: what names an older one is not recorded. */
  attempt: number
  /** JSON: what started it. */
  cause: string
  /** Of executions that caused one another. */
  depth: number
  /** JSON, as `output` and `options`. */
  input: string
  output: string | null
  error: string | null
  options: string
  /** Set while it waits, and no process runs it. */
  waiting_until: string | null
  idempotency_key: string | null
  created_at: string
  started_at: string | null
  completed_at: string | null
}

interface NodeResultsTable {
  execution_id: string
  node_id: string
  /** The items of the loops that it is in, as `2.0`; empty outside of loops. */
  path: string
  status: string
  attempts: number
  /** Of the edges that it left by; null for all but those of errors. */
  handle: string | null
  /** JSON. */
  output: string | null
  error: string | null
  /** JSON list; null without any. */
  warnings: string | null
  /** When a node that waits goes on. */
  due_at: string | null
  started_at: string
  duration_ms: number
}

export const workflowTables = defineAgentTables<WorkflowTables>({
  rules: {
    workflows: { sql: readable, copy: { key: ['id'] } },
    workflow_versions: { sql: readable, copy: { key: ['workflow_id', 'version'] } },
    executions: { sql: readable, copy: { key: ['id'] } },
    node_results: { sql: readable, copy: { key: ['execution_id', 'node_id', 'path'] } },
  },
  async create(db, parts) {
    const { textType } = parts
    await columns(db.schema.createTable('workflows'), parts, {
      texts: ['name', 'description', 'status', 'keep', 'created_at', 'updated_at'],
      optional: ['tool'],
      numbers: ['version', 'concurrency'],
    })
      .addColumn('id', textType, column => column.primaryKey())
      .addColumn('hook_hash', textType, column => column.unique())
      .execute()
    await columns(db.schema.createTable('workflow_versions'), parts, {
      texts: ['nodes', 'edges', 'created_at'],
      optional: ['secret_set'],
      numbers: ['version'],
    })
      .addColumn('workflow_id', textType, column =>
        column.notNull().references('workflows.id').onDelete('cascade'),
      )
      .addPrimaryKeyConstraint('workflow_versions_key', ['workflow_id', 'version'])
      .execute()
    await columns(db.schema.createTable('executions'), parts, {
      texts: ['workflow_id', 'status', 'cause', 'input', 'options', 'created_at'],
      optional: ['output', 'error', 'waiting_until', 'started_at', 'completed_at'],
      numbers: ['version', 'attempt', 'depth'],
    })
      .addColumn('id', textType, column => column.primaryKey())
      .addColumn('idempotency_key', textType, column => column.unique())
      .execute()
    await columns(db.schema.createTable('node_results'), parts, {
      texts: ['node_id', 'path', 'status', 'started_at'],
      optional: ['handle', 'output', 'error', 'warnings', 'due_at'],
      numbers: ['attempts', 'duration_ms'],
    })
      .addColumn('execution_id', textType, column =>
        column.notNull().references('executions.id').onDelete('cascade'),
      )
      .addPrimaryKeyConstraint('node_results_key', ['execution_id', 'node_id', 'path'])
      .execute()
    const index = (name: string, ...of: string[]) =>
      db.schema.createIndex(`executions_${name}`).on('executions').columns(of).execute()
    await index('workflow', 'workflow_id', 'status', 'created_at')
    await index('created', 'created_at', 'id')
    await index('completed', 'completed_at')
  },
})

interface Columns {
  texts: string[]
  optional: string[]
  numbers: string[]
}

function columns(table: CreateTableBuilder<string, string>, { textType }: SchemaParts, named: Columns) {
  let built = table
  for (const name of named.texts) built = built.addColumn(name, textType, column => column.notNull())
  for (const name of named.optional) built = built.addColumn(name, textType)
  for (const name of named.numbers) built = built.addColumn(name, 'integer', column => column.notNull())
  return built
}
