import { CompiledQuery, type QueryExecutorProvider } from 'kysely'

/** Runs a statement with a constant text: building it again each time would take as long as running it. */
export async function runText<Row>(
  db: QueryExecutorProvider,
  text: string,
  ...parameters: unknown[]
): Promise<Row[]> {
  const { rows } = await db.getExecutor().executeQuery(CompiledQuery.raw(text, parameters))
  return rows as Row[]
}
