/** What runs in a thread of the worker pool to write pages that were read; the other side is `crawl-threads.ts`. */
import { randomIds } from '#platform/ids.ts'
import { withAgentDatabase } from '../indexing/agent-database.ts'
import type { SourceTask } from '../indexing/index.worker.ts'
import { createIndexWriter } from '../indexing/index-writer.ts'
import { addDocuments } from '../indexing/new-documents.ts'
import { chunksPerTask } from '../search/search-index.ts'
import { chunksOfPage } from './page/page-chunks.ts'
import { unpack } from './page/page-content.ts'

export interface DraftPage extends SourceTask {
  /** See `page/page-content.ts`. */
  content: Uint8Array
  /** Names the draft that the chunks become. */
  draft: string
  /** Whether the chunks get built-in vectors: those of all but the largest pages get them at once. */
  isBuiltin: boolean
}

/** Stores the page's chunks as a draft of its document. */
export async function draftPage({ content, draft, isBuiltin, ...task }: DraftPage): Promise<boolean> {
  const { databasePath, sourceId, document, attempt } = task
  const unpacked = unpack(content)
  const chunks = 'text' in unpacked ? chunksOfPage(unpacked) : unpacked
  return await withAgentDatabase(databasePath, { readOnly: false }, async db => {
    const writer = createIndexWriter({ db, ids: randomIds, attempt, document })
    await writer.start(sourceId)
    if (isBuiltin && chunks.length <= chunksPerTask) await writer.add(sourceId, chunks)
    else await writer.store(sourceId, chunks)
    await writer.complete(sourceId, draft)
    return true
  })
}

export interface AddPages extends Omit<SourceTask, 'document'> {
  pages: { document: string; content: Uint8Array }[]
}

/** Adds pages to the source that are new to it and were cut when they were read; tells the number of chunks of each. */
export async function addPages({ databasePath, pages, ...attempt }: AddPages): Promise<number[]> {
  const documents = pages.map(({ document, content }) => {
    const chunks = unpack(content)
    if ('text' in chunks) throw new Error('A page that is to be added has not been cut.')
    return { document, chunks }
  })
  await withAgentDatabase(databasePath, { readOnly: false }, db =>
    addDocuments({ db, ids: randomIds, attempt }, documents),
  )
  return documents.map(({ chunks }) => chunks.length)
}
