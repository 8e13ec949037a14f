/** What runs in a thread of the worker pool; the other side is `page-reader.service.ts`. */

import type { MarkdownPage } from './html-page.ts'
import { pageText } from './page-text.ts'

export interface FetchedHtml {
  body: Uint8Array
  /** As its server tells it. */
  contentType: string
  /** Where it came from, after redirects. */
  url: string
}

/** In whatever character set it is, as the pages of a crawl; undefined for what is no text. */
export async function pageToMarkdown({
  body,
  contentType,
  url,
}: FetchedHtml): Promise<MarkdownPage | undefined> {
  const html = pageText(body, contentType)
  if (html === undefined) return undefined
  const { readHtmlPage } = await import('./html-page.ts')
  return await readHtmlPage({ html, url })
}
