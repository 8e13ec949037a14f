/** Runs in a thread of the worker pool; the other side is `page-reader.service.ts`. */

import type { MarkdownPage } from './html-page.ts'
import { pageText } from './page-text.ts'

export interface FetchedPage {
  body: Uint8Array
  /** Content-Type of the response. */
  contentType: string
  /** The address of the page, after redirects. */
  url: string
}

export interface PageMarkdown extends MarkdownPage {
  /** True if scripts would write the page's content. */
  isShell: boolean
}

/** Reads HTML in any character set, and other text unchanged; returns undefined for what is no text. */
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
