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
/** What an article holds to be used, not to be read. */
const controls = 'footer, form, button, input, select, textarea'
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
  return { title, markdown: toMarkdown(document, readableElement(document), { markup: true }) }
}

function readableElement(document: HtmlDocument): HtmlElement {
  const named = namedArticle(document)
  if (named !== undefined) return named
  const whole = document.querySelector('main') ?? document.querySelector('article') ?? document.body
  const article = readerView(document)
  return article !== undefined && holdsMostOf(article, whole) ? article : whole
}

/** What the page itself says is its article, where there is but one: to guess it is most of the work of reading a page. */
function namedArticle(document: HtmlDocument): HtmlElement | undefined {
  const [article, ...others] = document.querySelectorAll('article')
  if (article === undefined || others.length > 0) return undefined
  if (!holdsMostOf(article, document.querySelector('main') ?? document.body)) return undefined
  for (const control of article.querySelectorAll(controls)) control.remove()
  return article
}

function holdsMostOf(part: HtmlElement, whole: HtmlElement): boolean {
  return textLength(part) >= textLength(whole) * keptShare
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
