/** Writes chunks to an agent's database, from worker threads that chunk documents. */
import type { Chunk } from '#documents/chunking/chunk-document.ts'
import { randomIds } from '#platform/ids.ts'
import { withAgentDatabase } from './indexing/agent-database.ts'
import { createIndexWriter } from './indexing/index-writer.ts'
import { addDocuments, type NewDocument } from './indexing/new-documents.ts'
import { type PreparedChunk, prepare } from './indexing/prepared-chunk.ts'
import { chunksPerTask, type DraftTask, type SourceRun } from './indexing.service.ts'
import { changeSource } from './source-rows.repository.ts'

/**
 * Stores the chunks as a draft of their document.
 * @param warnings the unreadable parts of a source's only document.
 */
export async function storeDraft(
  { databasePath, sourceId, document, attempt, draft, isBuiltin }: DraftTask,
  chunks: readonly (Chunk | PreparedChunk)[],
  warnings: readonly string[] = [],
): Promise<void> {
  await withAgentDatabase(databasePath, { readOnly: false }, async db => {
    const writer = createIndexWriter({ db, ids: randomIds, attempt, document })
    await writer.start(sourceId)
    if (isBuiltin && chunks.length <= chunksPerTask) await writer.add(sourceId, chunks)
    else await writer.store(sourceId, chunks)
    // Stored before the draft is complete: a run that continues the draft does not read the file again.
    if (document === undefined)
      await changeSource(db.db, sourceId, {
        warnings: warnings.length === 0 ? null : JSON.stringify(warnings),
      })
    await writer.complete(sourceId, draft)
  })
}

/** Chunks with their built-in vectors. */
export type PreparedChunks = readonly PreparedChunk[]

/** Prepares chunks; undefined if there are too many for one task. */
export function prepareChunks(chunks: readonly Chunk[]): PreparedChunks | undefined {
  if (chunks.length > chunksPerTask) return undefined
  return chunks.map(chunk => ({ ...chunk, ...prepare(chunk) }))
}

/** Stores, indexes and shows prepared chunks of documents that are new to the source. */
export async function addPrepared(
  { databasePath, ...attempt }: SourceRun,
  documents: readonly NewDocument[],
): Promise<void> {
  await withAgentDatabase(databasePath, { readOnly: false }, db =>
    addDocuments({ db, ids: randomIds, attempt }, documents),
  )
}
