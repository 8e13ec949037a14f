import type { AgentHandle } from '#storage/agent-databases.ts'

/** Runs statements written by people and models on one agent's database, where a runaway harms no one else. */
export interface SqlRunner {
  /** The tables that an agent's SQL may read, by name. */
  describe(agent: SqlAgent): Promise<SqlTable[]>
  /**
   * @throws AppError `VALIDATION_ERROR` for what cannot be prepared, `FORBIDDEN` for what is not allowed, `SQL_FAILED`
   * for what goes wrong while running and, as `SqlBusy`, if too many are waiting, `SQL_UNAVAILABLE` if the database
   * server does not allow running it.
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
  /** Refuses anything that would change data. */
  readOnly: boolean
  /** Refuses anything but a SELECT. */
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
  /** Whether there were more rows than these. */
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
