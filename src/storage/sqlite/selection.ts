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

/** What an entry of a set takes, by and large, in bytes. */
const bytesInSet = 48

/** As a rule sequences are numbers in a row, so that marks take less than a set. */
export function memberOf(sequences: readonly number[]): (sequence: number) => boolean {
  const least = sequences.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY)
  const most = sequences.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY)
  if (most - least > sequences.length * bytesInSet) {
    const members = new Set(sequences)
    return sequence => members.has(sequence)
  }
  const marks = new Uint8Array(Math.max(0, most - least + 1))
  for (const sequence of sequences) marks[sequence - least] = 1
  return sequence => marks[sequence - least] === 1
}
