import type { QueryExecutorProvider } from 'kysely'
import { CompiledQuery } from 'kysely'

/** Runs a statement whose text is always the same: to build it anew each time takes as long as to run it. */
export async function runText<Row>(
  db: QueryExecutorProvider,
  text: string,
  ...parameters: unknown[]
): Promise<Row[]> {
  const { rows } = await db.getExecutor().executeQuery(CompiledQuery.raw(text, parameters))
  return rows as Row[]
}
