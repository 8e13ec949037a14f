/** Runs in threads of the worker pools; called by `attached.service.ts`. */
import { LRUCache } from 'lru-cache'
import { type Chunk, chunkDocument } from '#documents/chunking/chunk-document.ts'
import { defaultChunking } from '#documents/chunking/chunking-options.ts'
import type { DocumentFormat } from '#documents/parsing/document-format.ts'
import { readOrReason } from '#documents/parsing/not-read.ts'
import { parseDocument } from '#documents/parsing/parse-document.ts'
import { randomIds } from '#platform/ids.ts'
import type { FileLocation } from '#storage/files/file-store.ts'
import { readStoredFile } from '#storage/files/read-file.ts'
import { onceIdle } from '#storage/search/once-idle.ts'
import { createSearchDatabase } from '#storage/search/search-database.ts'
import type { SearchDatabase } from '#storage/search/search-engine.ts'
import { joined } from '../document-text.service.ts'
import { beginAttempt } from '../indexing/generations.ts'
import { addDocuments } from '../indexing/new-documents.ts'
import { prepare } from '../indexing/prepared-chunk.ts'
import type { SearchResult } from '../knowledge.schema.ts'
import type { ChunkQuery } from '../search/rankings.ts'
import { searchChunks } from '../search/search-chunks.ts'

/** A document with stored passages. */
export interface AttachedDocument {
  id: string
  name: string
  /** The location of the result of `cut`. */
  passages: FileLocation
  /** The size of the passages in bytes: more than their characters. */
  size: number
}

/** The text of a page, or of a document without pages. */
export interface AttachedPage {
  page: number | null
  start: number
  end: number
  text: string
}

interface Cut {
  chunks: Chunk[]
  /** Sentences on parts that could not be read. */
  warnings: readonly string[]
}

interface Given {
  content: FileLocation | Uint8Array
  format: DocumentFormat
}

/** Returns the passages of a document in stored form. */
export function cut(given: Given) {
  return readOrReason(async () => new TextEncoder().encode(JSON.stringify(await cutUp(given))))
}

/** Returns the pages of a document that is not stored. */
export function pages(given: Given) {
  return readOrReason(async () => pagesOf(await cutUp(given)))
}

/** Returns the pages of the first documents that fit within `characters` together, by id. */
export async function whole({
  files,
  characters,
}: {
  files: readonly AttachedDocument[]
  characters: number
}) {
  const found: [id: string, pages: AttachedPage[]][] = []
  let room = characters
  for (const file of files) {
    // Only very short texts take more than 20 bytes per character.
    if (file.size > room * 20) break
    const pages = pagesOf(await passagesOf(file))
    room -= pages.reduce((sum, { text }) => sum + text.length, 0)
    if (room < 0) break
    found.push([file.id, pages])
  }
  return found
}

interface AttachedSearch {
  files: readonly AttachedDocument[]
  query: ChunkQuery
}

/** The latest searched indexes: one for a million characters takes a second to create. */
const indexes = new LRUCache<string, SearchDatabase>({
  max: 3,
  dispose: ({ db }) => void db.destroy(),
})
const inUse = onceIdle(() => indexes.clear())

/** Searches an index with only these documents. */
export async function search({ files, query }: AttachedSearch): Promise<SearchResult[]> {
  const key = files.map(({ id }) => id).join(' ')
  const index = indexes.get(key) ?? (await indexOf(files))
  // Called late: creating an index can take longer than the pause after which all are dropped.
  inUse()
  indexes.set(key, index, { noDisposeOnSet: true })
  const results = await searchChunks(index, query)
  return results.map(result => {
    const { duplicates, ...place } = result.metadata
    return { ...result, metadata: { ...place, file_id: result.source_id } }
  })
}

async function indexOf(files: readonly AttachedDocument[]): Promise<SearchDatabase> {
  const index = await createSearchDatabase()
  const now = new Date(0).toISOString()
  for (const file of files) {
    const { id, name } = file
    const source = { id, name, type: 'file', status: 'ready', progress: 1, config: '{}' }
    await index.db
      .insertInto('sources')
      .values({ ...source, created_at: now, updated_at: now })
      .execute()
    const attempt = { sourceId: id, attempt: id }
    await beginAttempt(index.db, attempt)
    const { chunks } = await passagesOf(file)
    const prepared = chunks.map(chunk => ({ ...chunk, ...prepare(chunk) }))
    let number = 0
    // Ids are the same for each index of a file.
    const ids = { ...randomIds, record: () => `${id}-${number++}` }
    await addDocuments({ db: index, ids, attempt }, [{ document: '', chunks: prepared }])
  }
  return index
}

async function cutUp({ content, format }: Given): Promise<Cut> {
  const bytes = content instanceof Uint8Array ? content : await readStoredFile(content)
  const document = await parseDocument(format, bytes)
  return { chunks: chunkDocument(document, defaultChunking), warnings: document.warnings ?? [] }
}

async function passagesOf({ passages }: AttachedDocument): Promise<Cut> {
  return JSON.parse(new TextDecoder().decode(await readStoredFile(passages)))
}

function pagesOf({ chunks, warnings }: Cut): AttachedPage[] {
  const pages = Array.from(
    Map.groupBy(chunks, ({ page }) => page),
    ([page, parts]) => {
      const [start, end] = [parts[0]?.start ?? 0, parts.at(-1)?.end ?? 0]
      return { page, start, end, text: joined(parts, start, end) }
    },
  )
  const { end = 0 } = pages.at(-1) ?? {}
  return [...pages, ...warnings.map(text => ({ page: null, start: end, end, text: `(${text})` }))]
}
