/** What runs in a thread of the worker pool; the other side is `page-reader.service.ts`. */

import type { MarkdownPage } from './html-page.ts'
import { pageText } from './page-text.ts'

export interface FetchedPage {
  body: Uint8Array
  /** As its server tells it. */
  contentType: string
  /** Where it came from, after redirects. */
  url: string
}

/** In whatever character set it is, as the pages of a crawl, and as it stands if it is no HTML; undefined for what is no text. */
export async function pageToMarkdown({
  body,
  contentType,
  url,
}: FetchedPage): Promise<MarkdownPage | undefined> {
  const text = pageText(body, contentType)
  if (text === undefined) return undefined
  if (!/html/i.test(contentType)) return { title: '', markdown: text }
  const { readHtmlPage } = await import('./html-page.ts')
  return await readHtmlPage({ html: text, url })
}
