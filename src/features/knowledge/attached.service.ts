import type { DocumentFormat } from '#documents/parsing/document-format.ts'
import { limits } from '#documents/parsing/limits.ts'
import { type NotRead, reasonOf } from '#documents/parsing/not-read.ts'
import type { CitedPassage, Passage } from '#models/language-model/passages.ts'
import type { WorkerPool } from '#platform/workers/worker-pool.ts'
import type { FileLocation } from '#storage/files/file-store.ts'
import type { AttachedDocument, AttachedPage } from './attached/attached.worker.ts'
import type { SearchResult } from './knowledge.schema.ts'

export type { AttachedDocument } from './attached/attached.worker.ts'

interface Dependencies {
  documentWorkers: WorkerPool
  searchWorkers: WorkerPool
}

interface Given {
  content: FileLocation | Uint8Array<ArrayBuffer>
  format: DocumentFormat
}

const file = new URL('./attached/attached.worker.ts', import.meta.url)

/** The format of a document by its media type; texts of other types are read unchanged. */
const formats: Readonly<Record<string, DocumentFormat>> = {
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/json': 'json',
  'text/csv': 'csv',
  'text/markdown': 'md',
}

export function formatOfType(mediaType: string): DocumentFormat {
  return formats[mediaType] ?? 'txt'
}

/**
 * Reads and searches documents of a conversation. They are chunked like sources, and searched by the same
 * code, but in an index of their own in the thread, so that no other search finds them.
 */
export function createAttached({ documentWorkers, searchWorkers }: Dependencies) {
  async function read<Result>(name: string, argument: Given, signal: AbortSignal) {
    type Read = { kind: 'read'; result: Result } | NotRead
    const { content } = argument
    // Small contents share the buffer of Node's pool.
    const isMovable = content instanceof Uint8Array && content.length > Buffer.poolSize
    const transfer = isMovable && content.length === content.buffer.byteLength ? [content.buffer] : []
    const task = { file, name, argument, transfer, timeoutMs: limits.fileMs, signal }
    return await documentWorkers
      .run<Read>(task)
      .catch((error): NotRead => ({ kind: 'unreadable', reason: reasonOf(error) }))
  }

  return {
    /** Returns the passages of a document in stored form, or why there are none. */
    cut: (given: Given, signal: AbortSignal) => read<Uint8Array>('cut', given, signal),

    /** Returns the pages of a document that is not stored. */
    async pages(name: string, given: Given, signal: AbortSignal) {
      const found = await read<AttachedPage[]>('pages', given, signal)
      return found.kind === 'read' ? pagesAsPassages(name, found.result) : found
    },

    /** Returns the pages of the first documents, as many as fit within `characters`, by id. */
    async whole(files: readonly AttachedDocument[], characters: number, signal: AbortSignal) {
      const argument = { files, characters }
      type Found = [id: string, pages: AttachedPage[]][]
      return new Map(await searchWorkers.run<Found>({ file, name: 'whole', argument, signal }))
    },

    /** Returns the best passages of these documents. */
    search(
      files: readonly AttachedDocument[],
      query: { text: string; limit: number; minScore: number },
      signal: AbortSignal,
    ): Promise<SearchResult[]> {
      return searchWorkers.run({ file, name: 'search', argument: { files, query }, signal })
    },
  }
}

export type Attached = ReturnType<typeof createAttached>

/** Converts pages to passages of a prompt. */
export function pagesAsPassages(source: string, pages: readonly AttachedPage[]): Passage[] {
  return pages.map(({ page, text }) => ({ source, ...(page !== null && { page }), text }))
}

/** Cites a document whose pages were all shown to a model. */
export function citedWhole({ id, name }: AttachedDocument, pages: readonly AttachedPage[]): CitedPassage {
  const place = { source_name: name, page: null, section: null, start: 0, end: pages.at(-1)?.end ?? 0 }
  return { id, source_id: id, file_id: id, ...place }
}
