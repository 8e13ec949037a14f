import type { ColumnDefinitionBuilder, CreateTableBuilder, Expression, QueryExecutorProvider } from 'kysely'

/** The parts of the schema that differ between engines; migrations take them as an argument. */
export interface SchemaParts {
  /** Type of text columns, sorted and compared by code points. */
  textType: 'text' | Expression<string>
  /** Type of columns that hold bytes. */
  bytesType: 'blob' | 'bytea'
  /** Type of a column that numbers its rows by itself, ascending, never using a number twice. */
  sequenceType: 'integer' | 'bigserial'
  /** Type of a column that holds such a number. */
  sequenceReference: 'integer' | 'bigint'
  sequence(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** Refers to a column in the condition of an index. */
  reference(column: string): Expression<unknown>
  /** Wraps SQL that every engine understands, never text from outside. */
  expression(sql: string): Expression<unknown>
  /** A fresh id, where a row is inserted without one. */
  newId: Expression<string>
  /** The time of the insertion, as all times are stored. */
  now: Expression<string>
  /** Marks a table whose rows need not outlive a crash. */
  shortLived<Table extends string>(table: CreateTableBuilder<Table>): CreateTableBuilder<Table>
  /** Creates the function `fold_case(text)`, which is used to compare texts case-insensitively. */
  createFoldCase(db: QueryExecutorProvider): Promise<void>
  /** Creates the full-text index. */
  createFullText(db: QueryExecutorProvider): Promise<void>
}
