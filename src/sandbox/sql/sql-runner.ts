import type { AgentHandle } from '#storage/agent-databases.ts'

/** Runs statements of people and models on one agent's database, so that a runaway harms no other agent. */
export interface SqlRunner {
  /** Lists the tables that an agent's SQL may read, by name. */
  describe(agent: SqlAgent): Promise<SqlTable[]>
  /**
   * @throws AppError `VALIDATION_ERROR` for an unpreparable statement, `FORBIDDEN` for a forbidden one,
   * `SQL_FAILED` for a failure while running and, as `SqlBusy`, if too many are waiting, `SQL_UNAVAILABLE` if
   * the database server does not allow running it.
   */
  run(agent: SqlAgent, statement: SqlStatement, signal?: AbortSignal): Promise<SqlResult>
  /** Stops a running statement. */
  close(): Promise<void>
}

export type SqlAgent = Pick<AgentHandle, 'agentId' | 'path' | 'db' | 'signal'>

export type SqlParameter = string | number | boolean | null

export interface SqlStatement {
  query: string
  /** One for each `?` of the query, in order. */
  parameters: readonly SqlParameter[]
  /** True to refuse all changes of data. */
  readOnly: boolean
  /** True to refuse all statements except SELECT. */
  onlySelect?: boolean
  maxRows: number
}

/** Bytes, which JSON cannot represent. */
export interface Blob {
  base64: string
}

/** Numbers that JavaScript cannot represent exactly, and NaN and infinities, are strings. */
export type SqlValue = string | number | boolean | null | Blob

export interface SqlResult {
  columns: string[]
  rows: SqlValue[][]
  /** For a statement that writes, the number of changed rows; otherwise the number of returned rows. */
  rowCount: number
  /** True if there were more rows. */
  truncated: boolean
}

export interface SqlTable {
  name: string
  columns: SqlColumn[]
}

export interface SqlColumn {
  name: string
  type: string
  nullable: boolean
}
