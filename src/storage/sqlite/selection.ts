import type { Expression, QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'

/** As one value, since a row for each takes several times as long. */
export async function readSelection(
  db: QueryExecutorProvider,
  within: Expression<unknown>,
): Promise<number[]> {
  const { rows } = await sql<{ sequences: string }>`
    select json_group_array(chosen.sequence) as sequences from (
      with selection (sequence) as ${within} select sequence from selection
    ) as chosen`.execute(db)
  return JSON.parse(rows[0]?.sequences ?? '[]') as number[]
}

/** Sequences are numbers in a row, so that marks take less than a set. */
export function memberOf(sequences: readonly number[]): (sequence: number) => boolean {
  const marks = new Uint8Array(sequences.reduce((most, sequence) => Math.max(most, sequence), 0) + 1)
  for (const sequence of sequences) marks[sequence] = 1
  return sequence => marks[sequence] === 1
}
