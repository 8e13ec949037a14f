/** Reads the embeddings that find the shown chunks of documents. */
import { prepareQuery } from '#platform/prepared-query.ts'
import type { AgentDatabase as Database } from '#storage/tables.ts'

/** Returns the embeddings of shown chunks, of the given sources or all; none without chunks. */
export async function shownEmbeddings(db: Database, sourceIds?: readonly string[]): Promise<string[]> {
  const rows =
    sourceIds === undefined
      ? await selectOfAll(db, {})
      : await selectShown(db).where('source_id', 'in', sourceIds).execute()
  return rows.map(({ embedding }) => embedding)
}

const selectOfAll = prepareQuery((db: Database) => selectShown(db))

function selectShown(db: Database) {
  return db
    .selectFrom('chunk_generations')
    .select('embedding')
    .distinct()
    .orderBy('embedding')
    .whereRef('first_sequence', '<=', 'last_sequence')
}
