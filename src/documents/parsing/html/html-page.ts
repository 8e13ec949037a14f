import { limits } from '../limits.ts'
import { toMarkdown } from './html-to-markdown.ts'
import type { HtmlDocument, HtmlElement } from './html-tree.ts'
import { elementsOf, parseHtml, removeElements, shapeOf, textOf, textsOf } from './html-tree.ts'

export interface HtmlPage {
  html: string
  /** Where it came from, after redirects. */
  url: string
}

export interface MarkdownPage {
  title: string
  markdown: string
}

/** Parts of a page that belong to the site, or that a browser shows only when it cannot run or play something. */
const furniture = new Set('title script style noscript template svg nav iframe video audio'.split(' '))
/** Parts of an article that are for use, not for reading. */
const controls = new Set(['footer', 'form', 'button', 'input', 'select', 'textarea'])
/** A list-like page: the reader's view keeps less than this share of its text, so the whole is taken. */
const keptShare = 0.4

/** The readable part of a web page as markdown, with absolute links. */
export async function readHtmlPage({ html, url }: HtmlPage): Promise<MarkdownPage> {
  return await readablePart(parseHtml(html), url)
}

/** The same of a page that is parsed already. Changes the document. */
export async function readablePart(document: HtmlDocument, url: string): Promise<MarkdownPage> {
  const elements = elementsOf(document.root)
  const title = titleOf(elements)
  makeLinksAbsolute(elements, url)
  removeElements(document.root, isFurniture)
  return { title, markdown: toMarkdown(await readableElement(document), { markup: true }) }
}

function isFurniture({ name, attributes }: HtmlElement): boolean {
  return furniture.has(name) || attributes.hidden !== undefined || attributes['aria-hidden'] === 'true'
}

async function readableElement(document: HtmlDocument): Promise<HtmlElement> {
  const elements = elementsOf(document.root)
  const [article, ...others] = elements.filter(({ name }) => name === 'article')
  const main = elements.find(({ name }) => name === 'main')
  // To guess what the page itself says is most of the work of reading it.
  if (article !== undefined && others.length === 0 && holdsMostOf(article, main ?? document.body)) {
    removeElements(article, ({ name }) => controls.has(name))
    return article
  }
  const whole = main ?? article ?? document.body
  const guessed = await readerView(document)
  return guessed !== undefined && holdsMostOf(guessed, whole) ? guessed : whole
}

function holdsMostOf(part: HtmlElement, whole: HtmlElement): boolean {
  return textLength(part) >= textLength(whole) * keptShare
}

function titleOf(elements: readonly HtmlElement[]): string {
  const textOfFirst = (wanted: string) => {
    const found = elements.find(({ name }) => name === wanted)
    return found && textOf(found)
  }
  const meta = elements.find(({ name, attributes }) => name === 'meta' && attributes.property === 'og:title')
  const candidates = [textOfFirst('title'), meta?.attributes.content, textOfFirst('h1')]
  const title = candidates.map(text => text?.replace(/\s+/g, ' ').trim()).find(text => text)
  return title ?? ''
}

function makeLinksAbsolute(elements: readonly HtmlElement[], url: string): void {
  const declared = elements.find(({ name, attributes }) => name === 'base' && attributes.href !== undefined)
  const base = URL.parse(declared?.attributes.href ?? '', url)?.href ?? url
  for (const { name, attributes } of elements) {
    const { href } = attributes
    if (name !== 'a' || href === undefined || href.startsWith('#')) continue
    attributes.href = URL.parse(href, base)?.href ?? href
  }
}

async function readerView({ root }: HtmlDocument): Promise<HtmlElement | undefined> {
  const { nodes, depth } = shapeOf(root)
  if (nodes > limits.readerNodes || depth > limits.htmlDepth) return undefined
  const html = root.children.find(child => typeof child !== 'string')
  // Only where it is needed: it takes longer to load than a page to be read.
  const reader = await import('./reader-view.ts')
  return html && reader.readerView(html)
}

function textLength(element: HtmlElement): number {
  return textsOf(element).reduce((length, text) => length + text.replace(/\s+/g, '').length, 0)
}
