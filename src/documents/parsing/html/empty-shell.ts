import { elementsOf, type HtmlDocument, type HtmlElement, type HtmlNode, textOf } from './html-tree.ts'
import {
  besides,
  busyName,
  loadingLine,
  longestLine,
  mountIds,
  mountNames,
  someText,
} from './placeholders.ts'

/** Characters below which a page is empty, and max characters of names that are read. */
const littleText = 200
const longestNames = 500

const unseen = new Set(['script', 'style', 'noscript', 'template', 'title', 'head'])
const unseenOrBesides = new Set([...unseen, ...besides])

/** Returns true if scripts would write the page's content, which as sent is next to nothing. */
export function isEmptyShell({ root, body }: HtmlDocument): boolean {
  const elements = elementsOf(root)
  if (!elements.some(isProgram)) return false
  if (seenLength(body) < littleText) return true
  return (
    seenLength(body, unseenOrBesides) < someText &&
    elements.some(one => isEmptyMount(one) || isBusy(one) || demandsScripts(one) || isLoadingLine(one))
  )
}

function isProgram({ name, attributes: { type = '' } }: HtmlElement): boolean {
  return name === 'script' && /^(?:|module|(?:text|application)\/(?:java|ecma)script)$/i.test(type.trim())
}

function isEmptyMount(element: HtmlElement): boolean {
  const { name, attributes } = element
  return (mountIds.has(attributes.id ?? '') || mountNames.has(name)) && seenLength(element) === 0
}

/** Returns true for a visible skeleton or spinner. */
function isBusy(element: HtmlElement): boolean {
  const { class: classes = '', id = '', hidden, style = '' } = element.attributes
  if (hidden !== undefined || /display:\s*none/i.test(style) || seenLength(element) > 0) return false
  return (
    element.attributes['aria-busy'] === 'true' || busyName.test(`${classes} ${id}`.slice(0, longestNames))
  )
}

function isLoadingLine({ name, children }: HtmlElement): boolean {
  if (unseen.has(name)) return false
  const lines = children.filter(child => typeof child === 'string').map(line => line.trim().toLowerCase())
  return lines.some(line => line.length <= longestLine && loadingLine.test(line))
}

function demandsScripts(element: HtmlElement): boolean {
  return (
    element.name === 'noscript' &&
    /\b(?:enable|activate|turn on|requires?|needs?)\b.{0,40}javascript/is.test(textOf(element))
  )
}

/** Counts visible characters other than blanks. */
function seenLength(element: HtmlElement, leftOut = unseen): number {
  let length = 0
  const nodes: HtmlNode[] = [element]
  for (const node of nodes)
    if (typeof node === 'string') length += node.replace(/\s+/g, '').length
    else if (!leftOut.has(node.name)) nodes.push(...node.children)
  return length
}
