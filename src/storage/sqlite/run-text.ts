import type { QueryExecutorProvider } from 'kysely'
import { CompiledQuery } from 'kysely'
import { runAtOnce } from '../prepared-query.ts'

/** Runs a statement whose text never changes: building it again each time would take as long as running it. */
export async function runText<Row>(
  db: QueryExecutorProvider,
  text: string,
  ...parameters: unknown[]
): Promise<Row[]> {
  const found = runAtOnce(db, text, parameters)
  if (found !== undefined) return found as Row[]
  const { rows } = await db.getExecutor().executeQuery(CompiledQuery.raw(text, parameters))
  return rows as Row[]
}
