/** Writes pages that were read, in a thread of the worker pool; called by `crawl-threads.ts`. */
import { addPrepared, storeDraft } from '#features/knowledge/drafts.service.ts'
import type { DraftTask, SourceRun } from '#features/knowledge/indexing.service.ts'
import { chunksOfPage } from './page/page-chunks.ts'
import { unpack, unpackPage } from './page/page-content.ts'

export interface DraftPage extends DraftTask {
  /** See `page/page-content.ts`. */
  content: Uint8Array
  /** Blocks to leave out of a page that is not chunked; undefined if `content` is its chunks. */
  leftOut: string | undefined
}

/** Stores the page's chunks as a draft of its document. */
export async function draftPage({ content, leftOut, ...task }: DraftPage): Promise<boolean> {
  const isCut = leftOut === undefined
  await storeDraft(task, isCut ? unpack(content) : chunksOfPage(unpackPage(content), leftOut))
  return true
}

export interface AddPages extends SourceRun {
  pages: { document: string; content: Uint8Array }[]
}

/** Adds new pages to the source that were chunked on reading; returns the number of chunks of each. */
export async function addPages({ pages, ...run }: AddPages): Promise<number[]> {
  const documents = pages.map(({ document, content }) => ({ document, chunks: unpack(content) }))
  await addPrepared(run, documents)
  return documents.map(({ chunks }) => chunks.length)
}
