import type { AgentHandle } from '#storage/agent-databases.ts'

/** Runs statements of people and models on one agent's database, where a runaway harms nobody else. */
export interface SqlRunner {
  /** The tables that an agent's SQL may read, by name. */
  describe(agent: SqlAgent): Promise<SqlTable[]>
  /**
   * @throws AppError `VALIDATION_ERROR` for what can't be prepared, `FORBIDDEN` for what may not be done, `SQL_FAILED` for
   * what goes wrong while it runs and as `SqlBusy` where too many wait, `SQL_UNAVAILABLE` where the database server does not let it run.
   */
  run(agent: SqlAgent, statement: SqlStatement, signal?: AbortSignal): Promise<SqlResult>
  /** Stops what is running. */
  close(): Promise<void>
}

export type SqlAgent = Pick<AgentHandle, 'agentId' | 'path' | 'db' | 'signal'>

export type SqlParameter = string | number | boolean | null

export interface SqlStatement {
  query: string
  /** For each `?` of the query one, in order. */
  parameters: readonly SqlParameter[]
  /** Refuses all that would change something. */
  readOnly: boolean
  /** Refuses all that is no SELECT. */
  onlySelect?: boolean
  maxRows: number
}

/** Bytes, which JSON can't hold. */
export interface Blob {
  base64: string
}

/** Numbers that JavaScript can't hold exactly, and those that are none, are texts. */
export type SqlValue = string | number | boolean | null | Blob

export interface SqlResult {
  columns: string[]
  rows: SqlValue[][]
  /** Of a statement that writes, the rows that it changed; else the rows of the answer. */
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
