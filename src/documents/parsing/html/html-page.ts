import { toMarkdown } from './html-to-markdown.ts'
import {
  elementsOf,
  type HtmlDocument,
  type HtmlElement,
  parseHtml,
  removeElements,
  textOf,
} from './html-tree.ts'
import { linkTarget, lists } from './rendering/content-kinds.ts'

export interface HtmlPage {
  html: string
  /** The address of the page, after redirects. */
  url: string
}

export interface MarkdownPage {
  title: string
  markdown: string
}

/** Elements that are never shown, or only if something cannot run or play. */
const unseen = new Set(
  'title script style noscript template iframe video audio defs symbol desc metadata'.split(' '),
)
/** Elements and roles that lead to other pages. */
const navigation = new Set(['nav', 'search', 'navigation', 'menubar'])
const landmarks = new Set(['header', 'footer', 'banner', 'contentinfo'])
const content = new Set(['main', 'article', 'h1'])

/** Returns the text of a web page as markdown, with absolute links; only element and role exclude parts. */
export function readHtmlPage({ html, url }: HtmlPage): MarkdownPage {
  return readablePart(parseHtml(html), url)
}

/** Returns the text of a parsed page likewise. Changes the document. */
export function readablePart({ root, body }: HtmlDocument, url: string): MarkdownPage {
  const elements = elementsOf(root)
  const title = titleOf(elements)
  makeLinksAbsolute(elements, url)
  removeElements(root, isFurniture)
  for (const landmark of landmarksOf(body)) removeElements(landmark, isMenu)
  return { title, markdown: toMarkdown(body, { markup: true }) }
}

function isFurniture(element: HtmlElement): boolean {
  if (unseen.has(element.name) || isDecoration(element)) return true
  // A missing end tag makes the page itself a part of its menu.
  return navigation.has(kindOf(element)) && !elementsOf(element).some(({ name }) => content.has(name))
}

/** Returns the role if the author has set one, else the element. */
function kindOf({ name, attributes }: HtmlElement): string {
  return /^[a-z]+/.exec(attributes.role?.trim().toLowerCase() ?? '')?.[0] ?? name
}

/** Returns true for decoration, such as the name of an icon, or the sign of a link to a heading. */
function isDecoration({ name, attributes, children }: HtmlElement): boolean {
  const isHidden = attributes['aria-hidden'] === 'true'
  if (isHidden && (name === 'i' || /icon|symbol/i.test(attributes.class ?? ''))) return true
  const isAnchor = name === 'a' && attributes.href?.startsWith('#')
  return (isHidden || isAnchor === true) && children.every(isSign)
}

function isSign(node: HtmlElement | string): boolean {
  return typeof node === 'string' && !/[\p{L}\p{N}]/u.test(node)
}

/** Returns headers and footers of the page itself, not those of its parts. */
function landmarksOf(body: HtmlElement): HtmlElement[] {
  const found: HtmlElement[] = []
  const open = [body]
  for (let element = open.pop(); element !== undefined; element = open.pop())
    for (const child of element.children) {
      if (typeof child === 'string' || content.has(child.name)) continue
      if (landmarks.has(kindOf(child))) found.push(child)
      else open.push(child)
    }
  return found
}

/** Returns true for a list of links to pages and of nothing else. */
function isMenu(list: HtmlElement): boolean {
  if (!lists.has(list.name)) return false
  const open = [list]
  for (let element = open.pop(); element !== undefined; element = open.pop())
    for (const child of element.children) {
      if (typeof child === 'string' ? child.trim() !== '' : child.name === 'img') return false
      if (typeof child !== 'string' && !/^http/i.test(linkTarget(child) ?? '')) open.push(child)
    }
  return true
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
