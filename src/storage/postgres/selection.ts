import { type Expression, type QueryExecutorProvider, sql } from 'kysely'

/**
 * Returns the sequences that an expression selects; undefined without one. They are read as one value,
 * because a row each takes several times as long.
 */
export async function readSelection(
  db: QueryExecutorProvider,
  within: Expression<unknown> | undefined,
): Promise<number[] | undefined> {
  if (within === undefined) return undefined
  const { rows } = await sql<{ sequences: string | null }>`
    select string_agg(sequence::text, ',') as sequences from (
      with selection (sequence) as ${within} select sequence from selection
    ) as chosen`.execute(db)
  const sequences = rows[0]?.sequences
  return sequences ? sequences.split(',').map(Number) : []
}
