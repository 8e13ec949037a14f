import {
  integer,
  integerOrNull,
  partOf,
  since,
  text,
  textOrNull,
  unique,
  withDefault,
} from '#platform/columns.ts'
import { declareAgentTables, readable } from './table-set.ts'

/** Workflows, their versions and executions. */
export const workflowTables = declareAgentTables({
  workflows: {
    sql: readable,
    columns: {
      name: text,
      description: text,
      status: text,
      keep: text,
      created_at: text,
      updated_at: text,
      /** JSON: its form as a tool for models; null if it is none. */
      tool: textOrNull,
      /** Version of its nodes and edges. */
      version: integer,
      concurrency: integer,
      id: text,
      /** SHA-256 of the token of its secret address; null without one. */
      hook_hash: unique(textOrNull),
      /** 1 if waiting executions count for `concurrency`. */
      concurrency_counts_waiting: since('0023-readable-runs', withDefault(integer, 1)),
    },
  },
  workflow_versions: {
    sql: readable,
    columns: {
      /** JSON. */
      nodes: text,
      edges: text,
      created_at: text,
      /** The set of the secrets of its nodes; null without any. */
      secret_set: textOrNull,
      version: integer,
      workflow_id: partOf('workflows'),
    },
    key: ['workflow_id', 'version'],
  },
  executions: {
    sql: readable,
    columns: {
      workflow_id: text,
      status: text,
      /** JSON: the cause that started it. */
      cause: text,
      /** JSON, like `output` and `options`. */
      input: text,
      options: text,
      created_at: text,
      output: textOrNull,
      error: textOrNull,
      /** Set while it waits, and no process runs it. */
      waiting_until: textOrNull,
      started_at: textOrNull,
      completed_at: textOrNull,
      version: integer,
      /** Incremented by each process that takes it over; results of an older attempt are not recorded. */
      attempt: integer,
      /** Depth in a chain of executions that caused one another. */
      depth: integer,
      id: text,
      idempotency_key: unique(textOrNull),
      /** `approval` or `time`, and the end: the wait whose event was emitted last. */
      last_wait: since('0023-readable-runs', textOrNull),
    },
    indexes: {
      completed: ['completed_at'],
      created: ['created_at', 'id'],
      workflow: ['workflow_id', 'status', 'created_at'],
    },
  },
  node_results: {
    sql: readable,
    columns: {
      node_id: text,
      /** The items of the loops that it is in, as `2.0`; empty outside of loops. */
      path: text,
      status: text,
      started_at: text,
      /** Handle of the edges that it left by; null for all but edges of errors. */
      handle: textOrNull,
      /** JSON. */
      output: textOrNull,
      error: textOrNull,
      /** JSON list; null without any. */
      warnings: textOrNull,
      /** Time when a waiting node continues. */
      due_at: textOrNull,
      attempts: integer,
      duration_ms: integer,
      execution_id: partOf('executions'),
      /**
       * Numbers of one count in its execution: a node can read the results that had ended when it first began. Negative in
       * results that a retry took over; null in those of earlier versions.
       */
      began: since('0023-readable-runs', integerOrNull),
      ended: since('0023-readable-runs', integerOrNull),
      completed_at: since('0023-readable-runs', textOrNull),
    },
    key: ['execution_id', 'node_id', 'path'],
  },
})
