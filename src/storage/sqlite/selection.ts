import { type Expression, type QueryExecutorProvider, sql } from 'kysely'

/** Reads the sequences as one value, because a row each takes several times as long. */
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

/** Approximate size of a set's entry in bytes. */
const bytesInSet = 48

/** Returns a test of membership: sequences are mostly consecutive, so flags take less than a set. */
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
