/** Runs in a thread of the worker pool; called by `ingest.ts`. */

import { chunkDocument } from '#documents/chunking/chunk-document.ts'
import type { ChunkingOptions } from '#documents/chunking/chunking-options.ts'
import type { DocumentFormat } from '#documents/parsing/document-format.ts'
import { type NotRead, readOrReason } from '#documents/parsing/not-read.ts'
import { parseDocument } from '#documents/parsing/parse-document.ts'
import type { ParsedDocument } from '#documents/parsing/parsed-document.ts'
import { storeDraft } from '#features/knowledge/drafts.service.ts'
import type { DraftTask } from '#features/knowledge/indexing.service.ts'
import { createSecretFilter } from '#platform/outbound/hide-secrets.ts'
import type { FileLocation } from '#storage/files/file-store.ts'
import { readStoredFile } from '#storage/files/read-file.ts'
import { type Fetched, parseFetched } from '../fetching/parse-fetched.ts'

interface CutTask extends DraftTask {
  chunking: ChunkingOptions
}

export interface StoredFile extends CutTask {
  location: FileLocation
  format: DocumentFormat
}

export interface FetchedContent extends CutTask {
  fetched: Fetched
  /** Secrets that no passage may show, even if a server repeats them. */
  secrets: readonly string[]
}

/** `chunks` is the number of chunks, which wait as a draft in the agent's database. */
export type IngestedFile = { kind: 'drafted'; chunks: number } | NotRead

export function draftFile(file: StoredFile): Promise<IngestedFile> {
  return draftChunks(file, async () => {
    const bytes = await readStoredFile(file.location)
    return await parseDocument(file.format, bytes)
  })
}

export function draftFetched({ fetched, secrets, ...task }: FetchedContent): Promise<IngestedFile> {
  const withoutSecrets = createSecretFilter(secrets)
  return draftChunks(task, () => parseFetched(fetched, withoutSecrets), withoutSecrets)
}

async function draftChunks(
  { chunking, ...task }: CutTask,
  parse: () => Promise<ParsedDocument>,
  withoutSecrets = (text: string) => text,
): Promise<IngestedFile> {
  const read = await readOrReason(parse)
  if (read.kind !== 'read') return read
  const chunks = chunkDocument(read.result, chunking).map(chunk => ({
    ...chunk,
    content: withoutSecrets(chunk.content),
    section: chunk.section && withoutSecrets(chunk.section),
  }))
  await storeDraft(task, chunks, read.result.warnings?.map(withoutSecrets))
  return { kind: 'drafted', chunks: chunks.length }
}
