import { parseHTML } from 'linkedom'
import { lightenNodes } from './light-nodes.ts'

lightenNodes()

/** The part of the DOM that we use; the compiler knows no other, since a server has none. */
export interface HtmlElement {
  readonly tagName: string
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

/** A document in any state of completeness; a bare fragment becomes its body. */
export function parseHtml(html: string): HtmlDocument {
  const complete = /<(?:html|body)[\s>]/i.test(html)
    ? html
    : `<!doctype html><html><body>${html}</body></html>`
  return parseHTML(complete).document as unknown as HtmlDocument
}

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
