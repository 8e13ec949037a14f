/** Runs in a thread of the worker pool; the other side is `page-reader.service.ts`. */

import type { MarkdownPage } from './html-page.ts'
import { pageText } from './page-text.ts'

export interface FetchedPage {
  body: Uint8Array
  /** From the answer's headers. */
  contentType: string
  /** Where it came from, after redirects. */
  url: string
}

export interface PageMarkdown extends MarkdownPage {
  /** Scripts would write what the page is about. */
  isShell: boolean
}

/** HTML in any character set, as the pages of a crawl, and other text as it is; undefined for what is no text. */
export async function pageToMarkdown({
  body,
  contentType,
  url,
}: FetchedPage): Promise<PageMarkdown | undefined> {
  const text = pageText(body, contentType)
  if (text === undefined) return undefined
  if (!/html/i.test(contentType)) return { title: '', markdown: text, isShell: false }
  const [{ readablePart }, { isEmptyShell }, { parseHtml }] = await Promise.all([
    import('./html-page.ts'),
    import('./empty-shell.ts'),
    import('./html-tree.ts'),
  ])
  const document = parseHtml(text)
  const isShell = isEmptyShell(document)
  return { ...readablePart(document, url), isShell }
}
