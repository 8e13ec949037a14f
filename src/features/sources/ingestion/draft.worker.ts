/** What runs in a thread of the worker pool; the other side is `ingest.ts`. */

import type { Chunk } from '#documents/chunking/chunk-document.ts'
import { chunkDocument } from '#documents/chunking/chunk-document.ts'
import type { ChunkingOptions } from '#documents/chunking/chunking-options.ts'
import type { DocumentFormat } from '#documents/parsing/document-format.ts'
import { parseDocument } from '#documents/parsing/parse-document.ts'
import { UnreadableDocument } from '#documents/parsing/parsed-document.ts'
import { AppError } from '#platform/errors.ts'
import { randomIds } from '#platform/ids.ts'
import { createSecretFilter } from '#platform/outbound/hide-secrets.ts'
import type { FileLocation } from '#storage/files/file-store.ts'
import { readStoredFile } from '#storage/files/read-file.ts'
import type { Fetched } from '../fetching/parse-fetched.ts'
import { parseFetched } from '../fetching/parse-fetched.ts'
import { withAgentDatabase } from '../indexing/agent-database.ts'
import type { SourceTask } from '../indexing/index.worker.ts'
import { createIndexWriter } from '../indexing/index-writer.ts'
import { chunksPerTask } from '../search/search-index.ts'

interface DraftTask extends SourceTask {
  chunking: ChunkingOptions
  /** Names the draft that the chunks become. */
  draft: string
  /** Whether the chunks get built-in vectors: those of a small document get them at once. */
  isBuiltin: boolean
}

export interface StoredFile extends DraftTask {
  location: FileLocation
  format: DocumentFormat
}

export interface FetchedContent extends DraftTask {
  fetched: Fetched
  /** Secrets that no passage may show, wherever a server repeats them. */
  secrets: readonly string[]
}

/** Why there are no chunks; with `unavailable` the next attempt may succeed. */
interface NotRead {
  kind: 'unreadable' | 'unavailable'
  reason: string
}

/** `chunks` is their number: they wait as a draft in the agent's database. */
export type IngestedFile = { kind: 'drafted'; chunks: number } | NotRead

export function draftFile(file: StoredFile): Promise<IngestedFile> {
  return draftChunks(file, async () => {
    const bytes = await readStoredFile(file.location)
    return chunkDocument(await parseDocument(file.format, bytes), file.chunking)
  })
}

export function draftFetched({ fetched, secrets, ...task }: FetchedContent): Promise<IngestedFile> {
  const withoutSecrets = createSecretFilter(secrets)
  return draftChunks(task, async () =>
    chunkDocument(await parseFetched(fetched, withoutSecrets), task.chunking).map(chunk => ({
      ...chunk,
      content: withoutSecrets(chunk.content),
      section: chunk.section && withoutSecrets(chunk.section),
    })),
  )
}

async function draftChunks(task: DraftTask, cut: () => Promise<Chunk[]>): Promise<IngestedFile> {
  const read = await chunksOrReason(cut)
  if (read.kind !== 'read') return read
  const { databasePath, sourceId, attempt, draft, isBuiltin } = task
  const { chunks } = read
  await withAgentDatabase(databasePath, { readOnly: false }, async db => {
    const writer = createIndexWriter({ db, ids: randomIds, attempt })
    await writer.start(sourceId)
    if (isBuiltin && chunks.length <= chunksPerTask) await writer.add(sourceId, chunks)
    else await writer.store(sourceId, chunks)
    await writer.complete(sourceId, draft)
  })
  return { kind: 'drafted', chunks: chunks.length }
}

type ReadFile = { kind: 'read'; chunks: Chunk[] } | NotRead

async function chunksOrReason(cut: () => Promise<Chunk[]>): Promise<ReadFile> {
  try {
    return { kind: 'read', chunks: await cut() }
  } catch (error) {
    if (error instanceof UnreadableDocument) return { kind: 'unreadable', reason: error.message }
    // An error that leaves the thread keeps its message alone.
    if (error instanceof AppError)
      return { kind: error.fault === 'user' ? 'unreadable' : 'unavailable', reason: error.message }
    throw error
  }
}
