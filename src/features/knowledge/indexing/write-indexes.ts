/** Writes chunks to the indexes, in batches that suit the engine. */
import type { Transaction } from 'kysely'
import type { SearchEngine, VectorSpace } from '#storage/search/search-engine.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Prepared } from './prepared-chunk.ts'

/** Number of chunks that are analysed and embedded before the database is locked to write them. */
export const batchSize = 32

export function batches<Item>(items: readonly Item[], size = batchSize): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, number) =>
    items.slice(number * size, (number + 1) * size),
  )
}

/**
 * Returns the rows of each statement: many chunks if a statement is a round trip to the server, a single one
 * if others wait for the end of the transaction.
 */
export function atOnce<Item>(items: readonly Item[], { singleWriter }: SearchEngine): Item[][] {
  return batches(items, singleWriter ? 1 : batchSize)
}

/** Writes stored chunks. @param chunks in the order of their sequences. */
export async function writeIndexes(
  transaction: Transaction<AgentTables>,
  { engine, space }: { engine: SearchEngine; space: VectorSpace },
  chunks: readonly (Prepared & { sequence: number })[],
): Promise<void> {
  const texts = chunks.map(({ sequence, terms }) => ({ sequence, text: terms }))
  const vectors = chunks.flatMap(({ sequence, vector }) =>
    vector === undefined ? [] : [{ sequence, vector }],
  )
  await engine.writeFullText(transaction, texts)
  await engine.writeVectors(transaction, space, vectors)
}
