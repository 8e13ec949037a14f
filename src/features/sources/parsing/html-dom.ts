import { parseHTML } from 'linkedom'
import { lightenNodes } from './light-nodes.ts'

lightenNodes()

/** The part of the DOM that we use; the compiler knows no other, since a server has none. */
export interface HtmlElement {
  readonly tagName: string
  readonly nodeType: number
  readonly textContent: string | null
  readonly firstChild: HtmlElement | null
  readonly nextSibling: HtmlElement | null
  readonly parentNode: HtmlElement | null
  innerHTML: string
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  querySelector(selector: string): HtmlElement | null
  querySelectorAll(selector: string): Iterable<HtmlElement>
  appendChild(child: HtmlElement): void
  replaceWith(...replacements: HtmlElement[]): void
  closest(selector: string): HtmlElement | null
  remove(): void
}

export interface HtmlDocument extends HtmlElement {
  readonly title: string
  readonly body: HtmlElement
  createElement(tagName: string): HtmlElement
  cloneNode(deep: boolean): HtmlDocument
}

/** A document in any state of completeness: like a browser's, its body holds all that is shown. */
export function parseHtml(html: string): HtmlDocument {
  const document = parse(html)
  // The parser puts no tags where an author has left them out, and takes only the first body.
  return isFramed(document) ? document : parse(`<!doctype html><html><body>${html.replace(frame, '')}`)
}

function parse(html: string): HtmlDocument {
  return parseHTML(html).document as unknown as HtmlDocument
}

/** Tags that a page may leave out, or have too often. */
const frame = /<!doctype[^>]{0,1000}>|<\/?(?:html|head|body|frameset|noframes)(?:\s[^>]{0,2000})?>/gi

/** Whether the document is one `html` element with one `body`, and nothing stands beside them. */
function isFramed(document: HtmlDocument): boolean {
  const outer = [...shownChildren(document)]
  const [html] = outer
  if (html?.tagName !== 'HTML' || outer.length > 1) return false
  const inner = [...shownChildren(html)].map(({ tagName }) => tagName).filter(name => name !== 'HEAD')
  return inner.length === 1 && inner[0] === 'BODY'
}

/** Elements, and texts that are not blank. */
function* shownChildren({ firstChild }: HtmlElement): Generator<HtmlElement> {
  for (let child = firstChild; child !== null; child = child.nextSibling)
    if (child.nodeType === elementNode || (child.nodeType === textNode && child.textContent?.trim()))
      yield child
}

const elementNode = 1
const textNode = 3

/** How many nodes stand below one, and how many levels deep. Without recursion, which deep pages would break. */
export function shapeOf(root: HtmlElement): { nodes: number; depth: number } {
  const shape = { nodes: 0, depth: 0 }
  let level = 0
  let node = root
  for (;;) {
    if (node.firstChild !== null) {
      node = node.firstChild
      level++
    } else {
      while (node !== root && node.nextSibling === null && node.parentNode !== null) {
        node = node.parentNode
        level--
      }
      if (node === root || node.nextSibling === null) return shape
      node = node.nextSibling
    }
    shape.nodes++
    shape.depth = Math.max(shape.depth, level)
  }
}
