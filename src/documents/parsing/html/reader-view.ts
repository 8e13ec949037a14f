import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import type { HtmlElement } from './html-tree.ts'
import { lightenNodes } from './light-nodes.ts'

lightenNodes()

/** The part of the DOM that we use; the compiler knows no other, since a server has none. */
interface DomNode {
  readonly nodeType: number
  readonly textContent: string | null
  readonly firstChild: DomNode | null
  readonly nextSibling: DomNode | null
}

interface DomElement extends DomNode {
  readonly tagName: string
  readonly attributes: Iterable<{ name: string; value: string }>
  setAttribute(name: string, value: string): void
  appendChild(child: DomNode): void
}

interface DomDocument {
  readonly documentElement: DomElement
  createElement(name: string): DomElement
  createTextNode(text: string): DomNode
}

/** The article of a page by Mozilla's reader; undefined if it finds none. For trees of bounded depth and size. */
export function readerView(html: HtmlElement): HtmlElement | undefined {
  const { document } = parseHTML('<html></html>') as unknown as { document: DomDocument }
  fill(document, document.documentElement, html)
  // Written as text, the article would only have to be parsed once more.
  const reader = new Readability<DomElement>(document as never, {
    serializer: article => article as unknown as DomElement,
  })
  const article = reader.parse()?.content
  return article ? copyOf(article) : undefined
}

/** Attributes of an element that count: each that is set is compared with all before. */
const maxAttributes = 100

function fill(document: DomDocument, target: DomElement, source: HtmlElement): void {
  for (const [name, value] of Object.entries(source.attributes).slice(0, maxAttributes))
    target.setAttribute(name, value)
  for (const child of source.children) {
    const node =
      typeof child === 'string' ? document.createTextNode(child) : document.createElement(child.name)
    target.appendChild(node)
    if (typeof child !== 'string') fill(document, node as DomElement, child)
  }
}

function copyOf(element: DomElement): HtmlElement {
  const attributes = Object.fromEntries(Array.from(element.attributes, ({ name, value }) => [name, value]))
  const copy: HtmlElement = { name: element.tagName.toLowerCase(), attributes, children: [] }
  for (let child = element.firstChild; child !== null; child = child.nextSibling) {
    if (child.nodeType === elementNode) copy.children.push(copyOf(child as DomElement))
    else if (child.nodeType === textNode) copy.children.push(child.textContent ?? '')
  }
  return copy
}

const elementNode = 1
const textNode = 3
