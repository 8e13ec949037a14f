/** What runs in a thread of the worker pool; the other side is `page-reader.service.ts`. */
import type { HtmlPage, MarkdownPage } from './html-page.ts'

export async function pageToMarkdown(page: HtmlPage): Promise<MarkdownPage> {
  const { readHtmlPage } = await import('./html-page.ts')
  return await readHtmlPage(page)
}
