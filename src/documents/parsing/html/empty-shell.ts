import type { HtmlDocument, HtmlElement, HtmlNode } from './html-tree.ts'
import { elementsOf, textOf } from './html-tree.ts'

/** Characters: a page with fewer is empty, and one with more is not, even if its scripts add text. */
const littleText = 200
const someText = 1000

const unseen = new Set(['script', 'style', 'noscript', 'template', 'title', 'head'])
/** Where usual frameworks put what their scripts write. */
const mounts = new Set(['root', 'app', '__next', '__nuxt', '___gatsby', 'svelte'])

/** Whether scripts would write what the page is about: as it was sent, it says next to nothing. */
export function isEmptyShell({ root, body }: HtmlDocument): boolean {
  const elements = elementsOf(root)
  if (!elements.some(isProgram)) return false
  const length = seenLength(body)
  return (
    length < littleText ||
    (length < someText && elements.some(one => isEmptyMount(one) || demandsScripts(one)))
  )
}

function isProgram({ name, attributes: { type = '' } }: HtmlElement): boolean {
  return name === 'script' && /^(?:|module|(?:text|application)\/(?:java|ecma)script)$/i.test(type.trim())
}

function isEmptyMount(element: HtmlElement): boolean {
  const { name, attributes } = element
  return (mounts.has(attributes.id ?? '') || name === 'app-root') && seenLength(element) === 0
}

function demandsScripts(element: HtmlElement): boolean {
  return (
    element.name === 'noscript' &&
    /\b(?:enable|activate|turn on|requires?|needs?)\b.{0,40}javascript/is.test(textOf(element))
  )
}

/** Characters other than blanks. */
function seenLength(element: HtmlElement): number {
  let length = 0
  const nodes: HtmlNode[] = [element]
  for (const node of nodes)
    if (typeof node === 'string') length += node.replace(/\s+/g, '').length
    else if (!unseen.has(node.name)) nodes.push(...node.children)
  return length
}
