/** Finds pages that are new to a source and only need their chunks stored: much cheaper for many together. */
import { chunksPerTask } from '#features/knowledge/indexing.service.ts'
import { documentOfPage, findPage, isFound } from './crawl.repository.ts'
import { crawlLimits } from './crawl-limits.ts'
import type { Site, Visited, VisitedPage } from './crawl-state.ts'
import type { IndexedPage } from './index-page.ts'

export interface NewPage extends IndexedPage, Visited {
  visit: VisitedPage
}

/**
 * Returns the new pages at the beginning of the visits, up to the first visit with another result: at most
 * one batch to store, with no more links and chunks together than one page can have.
 */
export async function newPagesAmong(site: Site, visited: readonly Visited[]): Promise<NewPage[]> {
  const pages = new Map<string, NewPage>()
  let [links, chunks] = [0, 0]
  for (const { entry, visit } of visited.slice(0, crawlLimits.pagesPerWrite)) {
    if (visit.kind !== 'page' || visit.read.chunks === undefined || visit.read.omitted !== undefined) break
    const document = documentOfPage(visit.url)
    links += visit.read.links.length
    chunks += visit.read.chunks
    const isTooMuch = links > crawlLimits.linksPerPage || chunks > chunksPerTask
    if (pages.has(document) || (pages.size > 0 && isTooMuch)) break
    if (!(await isNew(site, document))) break
    pages.set(document, { entry, visit, document, ...visit.read })
  }
  return [...pages.values()]
}

async function isNew({ db, sourceId }: Site, document: string): Promise<boolean> {
  return (
    !(await isFound(db, sourceId, document)) && (await findPage(db, sourceId, { document })) === undefined
  )
}
