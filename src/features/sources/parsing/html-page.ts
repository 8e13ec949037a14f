import { Readability } from '@mozilla/readability'
import type { HtmlDocument, HtmlElement } from './html-dom.ts'
import { parseHtml, shapeOf } from './html-dom.ts'
import { toMarkdown } from './html-to-markdown.ts'
import { limits } from './limits.ts'

export interface HtmlPage {
  html: string
  /** Where it came from, after redirects. */
  url: string
}

export interface MarkdownPage {
  title: string
  markdown: string
}

/** Parts of a page that are about the site, not about the page. */
const furniture = 'title, script, style, noscript, template, svg, nav, iframe, [hidden], [aria-hidden="true"]'
/** A list-like page: the reader's view keeps less than this share of its text, so the whole is taken. */
const keptShare = 0.4

/** The readable part of a web page as markdown, with absolute links. */
export function readHtmlPage({ html, url }: HtmlPage): MarkdownPage {
  return readablePart(parseHtml(html), url)
}

/** The same of a page that is parsed already. Changes the document. */
export function readablePart(document: HtmlDocument, url: string): MarkdownPage {
  const title = titleOf(document)
  makeLinksAbsolute(document, url)
  for (const element of document.querySelectorAll(furniture)) element.remove()
  const whole = document.querySelector('main') ?? document.querySelector('article') ?? document.body
  const article = readerView(document)
  const takesArticle = article !== undefined && textLength(article) >= textLength(whole) * keptShare
  const markdown = toMarkdown(document, takesArticle ? article : whole, { markup: true })
  return { title, markdown }
}

function titleOf(document: HtmlDocument): string {
  const meta = document.querySelector('meta[property="og:title"]')?.getAttribute('content')
  const candidates = [
    document.querySelector('title')?.textContent,
    meta,
    document.querySelector('h1')?.textContent,
  ]
  const title = candidates.map(text => text?.replace(/\s+/g, ' ').trim()).find(text => text)
  return title ?? ''
}

function makeLinksAbsolute(document: HtmlDocument, url: string): void {
  const declared = document.querySelector('base[href]')?.getAttribute('href') ?? ''
  const base = URL.canParse(declared, url) ? new URL(declared, url).href : url
  for (const link of document.querySelectorAll('a[href]')) {
    const href = link.getAttribute('href') ?? ''
    if (href.startsWith('#')) continue
    if (URL.canParse(href, base)) link.setAttribute('href', new URL(href, base).href)
  }
}

/** Belongs to a copy of the document. */
function readerView(document: HtmlDocument): HtmlElement | undefined {
  const { nodes, depth } = shapeOf(document.body)
  if (nodes > limits.readerNodes || depth > limits.htmlDepth) return undefined
  // Written as text, the article would only have to be parsed once more.
  const reader = new Readability<HtmlElement>(document.cloneNode(true) as never, {
    serializer: article => article as unknown as HtmlElement,
  })
  return reader.parse()?.content ?? undefined
}

function textLength(element: HtmlElement): number {
  return element.textContent?.replace(/\s+/g, '').length ?? 0
}
