import type { QueryExecutorProvider } from 'kysely'
import type { StoredVector, VectorSpace } from '../search/search-engine.ts'

/** The facts about an engine's databases that copying needs beyond their rows. */
export interface Catalogue {
  /** Lists all tables except those that the engine keeps for itself. */
  tables(db: QueryExecutorProvider): Promise<string[]>
  columns(db: QueryExecutorProvider, table: string): Promise<string[]>
  /** Returns the greatest number that this column has ever given to a row, 0 if none. */
  lastNumber(db: QueryExecutorProvider, table: string, column: string): Promise<number>
  /** Makes the column continue above this number. */
  setLastNumber(db: QueryExecutorProvider, table: string, column: string, last: number): Promise<void>
  /** True if texts can hold the character U+0000. */
  storesNul: boolean

  vectorTables(db: QueryExecutorProvider): Promise<VectorTable[]>
  createVectorTable(db: QueryExecutorProvider, table: VectorTable): Promise<void>
  /** Reads the existing vectors of these chunks in this table, in the order of the chunks. */
  readVectors(
    db: QueryExecutorProvider,
    table: VectorTable,
    sequences: readonly number[],
  ): Promise<StoredVector[]>
  writeVectors(db: QueryExecutorProvider, table: VectorTable, rows: readonly StoredVector[]): Promise<void>
}

/** The table of a vector space; its name, the same on every engine, is all that is left of the embedding's name. */
export interface VectorTable extends Pick<VectorSpace, 'dimensions' | 'form'> {
  name: string
}
