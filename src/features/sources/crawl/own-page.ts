import { documentOfPage, findText, isFound } from './crawl.repository.ts'
import type { Site, Visit, VisitedPage } from './crawl-state.ts'
import { isPartOf } from './page/page-blocks.ts'
import { boundedTogether } from './page/page-url.ts'

/**
 * Returns the page at the canonical URL of a page, if it is allowed and contains all of this page's text;
 * else the page under its own URL. Many sites name the same page everywhere, by mistake. An omitted page
 * keeps its own URL: it proves nothing about the other page, whose text, links and state stay unchanged.
 */
export async function ownPage(
  site: Site,
  page: VisitedPage,
  visit: (url: string) => Promise<Visit>,
  signal: AbortSignal,
): Promise<VisitedPage> {
  const { canonical, omitted, marks, links } = page.read
  if (canonical === undefined || canonical === page.url || omitted !== undefined) return page
  const { db, sourceId, threads, rules, namedAddresses } = site
  const [isAllowed] = await threads.allowed(rules.robots, [canonical], signal)
  if (!isAllowed) return page
  const named = { ...page, url: canonical }
  const document = documentOfPage(canonical)
  if (await isFound(db, sourceId, document)) {
    const text = await findText(db, sourceId, document)
    return text !== undefined && isPartOf(marks, text.marks) ? named : page
  }
  const known = namedAddresses.get(canonical) ?? visit(canonical)
  namedAddresses.set(canonical, known)
  const there = await known
  // An unclear answer is no reason to doubt the page.
  if (there.kind === 'failed') return named
  if (there.kind !== 'page' || there.read.omitted !== undefined) return page
  if (!isPartOf(marks, there.read.marks)) return page
  return {
    ...there,
    url: canonical,
    read: { ...there.read, links: boundedTogether([links, there.read.links]) },
  }
}
