/** Runs in a thread of the worker pool to write pages that were read; the other side is `crawl-threads.ts`. */
import { addPrepared, storeDraft } from '#features/knowledge/drafts.service.ts'
import type { DraftTask, SourceRun } from '#features/knowledge/indexing.service.ts'
import { chunksOfPage } from './page/page-chunks.ts'
import { unpack } from './page/page-content.ts'

export interface DraftPage extends DraftTask {
  /** See `page/page-content.ts`. */
  content: Uint8Array
}

/** Stores the page's chunks as a draft of its document. */
export async function draftPage({ content, ...task }: DraftPage): Promise<boolean> {
  const unpacked = unpack(content)
  await storeDraft(task, 'text' in unpacked ? chunksOfPage(unpacked) : unpacked)
  return true
}

export interface AddPages extends SourceRun {
  pages: { document: string; content: Uint8Array }[]
}

/** Adds pages to the source that are new to it and were cut when they were read; returns the number of chunks of each. */
export async function addPages({ pages, ...run }: AddPages): Promise<number[]> {
  const documents = pages.map(({ document, content }) => {
    const chunks = unpack(content)
    if ('text' in chunks) throw new Error('A page that is to be added has not been cut.')
    return { document, chunks }
  })
  await addPrepared(run, documents)
  return documents.map(({ chunks }) => chunks.length)
}
