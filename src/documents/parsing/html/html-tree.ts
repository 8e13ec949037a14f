import { Parser } from 'htmlparser2'

/** An element, with only the facts for reading: there are no comments, and a text is only its string. */
export interface HtmlElement {
  /** Name in lower case. */
  name: string
  /** Attributes by their names in lower case. */
  readonly attributes: Record<string, string>
  children: HtmlNode[]
}
export type HtmlNode = HtmlElement | string

export interface HtmlDocument {
  root: HtmlElement
  body: HtmlElement
}

/** Parses a document, complete or not: like a browser's, its body holds all shown content. */
export function parseHtml(html: string): HtmlDocument {
  const root = parse(html)
  const body = framedBody(root)
  if (body !== undefined) return { root, body }
  // The parser adds no tags that an author has left out, and takes only the first body.
  const framed = parse(`<html><body>${html.replace(frame, '')}`)
  return { root: framed, body: elementsOf(framed).find(({ name }) => name === 'body') ?? framed }
}

/** Tags that a page can leave out, or have too often. */
const frame = /<!doctype[^>]{0,1000}>|<\/?(?:html|head|body|frameset|noframes)(?:\s[^>]{0,2000})?>/gi

/** Returns the body if the document is one `html` element with one `body`, and nothing beside them. */
function framedBody(root: HtmlElement): HtmlElement | undefined {
  const [html, ...besides] = root.children.filter(isShown)
  if (html === undefined || typeof html === 'string' || html.name !== 'html' || besides.length > 0) return
  const [body, ...others] = html.children.filter(isShown).filter(child => !isNamed(child, 'head'))
  return body !== undefined && others.length === 0 && isNamed(body, 'body') ? body : undefined
}

function isShown(node: HtmlNode): boolean {
  return typeof node !== 'string' || node.trim() !== ''
}

function isNamed(node: HtmlNode, name: string): node is HtmlElement {
  return typeof node !== 'string' && node.name === name
}

/** Max open tags: the parser takes longer for each, the more are open. After that, tags hold nothing. */
const maxOpen = 5_000
/** Elements whose content would be taken for text of the page. */
const rawTexts = new Set(['script', 'style', 'title', 'textarea'])

function parse(html: string): HtmlElement {
  const root: HtmlElement = { name: '', attributes: {}, children: [] }
  /** Elements that take what follows, and all that the parser treats as open, with a place among those. */
  const open = [root]
  const asParsed: { element: HtmlElement; level: number }[] = []

  const templates: Template[] = []
  let isFull = false

  class BoundedParser extends Parser {
    protected override isVoidElement(name: string): boolean {
      const isVoid = super.isVoidElement(name) || (isFull && !rawTexts.has(name))
      // Applies from the next tag on: the parser checks before and after it opens each.
      isFull ||= asParsed.length >= maxOpen
      return isVoid
    }
  }

  const parser = new BoundedParser({
    onopentag(name, attributes) {
      endBefore(name, open)
      const element: HtmlElement = { name, attributes, children: [] }
      asParsed.push({ element, level: open.length })
      const parent = open.at(-1)
      parent?.children.push(element)
      if (parent && name === 'template' && ('shadowrootmode' in attributes || 'shadowroot' in attributes))
        templates.push({ host: parent, template: element })
      open.push(element)
    },
    ontext(text) {
      const children = open.at(-1)?.children ?? []
      const last = children.at(-1)
      if (typeof last === 'string') children[children.length - 1] = last + text
      else children.push(text)
    },
    onclosetag() {
      const closed = asParsed.pop()
      if (closed !== undefined && open[closed.level] === closed.element) open.length = closed.level
    },
  })
  parser.end(html)
  for (const template of templates.reverse()) showShadow(template)
  return root
}

/** A shadow root declared in HTML, with the element that it belongs to. */
interface Template {
  host: HtmlElement
  template: HtmlElement
}

/** Replaces a host's children by its shadow root, with these in its slots. No child is lost. */
function showShadow({ host, template }: Template): void {
  let rest = host.children.filter(child => child !== template)
  for (const slot of elementsOf(template).filter(({ name }) => name === 'slot')) {
    const wanted = slot.attributes.name ?? ''
    const isHere = (child: HtmlNode) =>
      (typeof child === 'string' ? '' : (child.attributes.slot ?? '')) === wanted
    const assigned = rest.filter(isHere)
    rest = rest.filter(child => !isHere(child))
    if (assigned.some(isShown)) slot.children = assigned
    slot.name = 'span'
  }
  host.children = [...template.children, ...rest]
}

interface Ending {
  ends: ReadonlySet<string>
  /** Elements outside of which nothing is ended. */
  within: ReadonlySet<string>
}

const sections = ['thead', 'tbody', 'tfoot']
const endOfCell: Ending = { ends: new Set(['td', 'th']), within: new Set(['tr', 'table', ...sections]) }
const endOfSection: Ending = { ends: new Set(['tr', 'caption', ...sections]), within: new Set(['table']) }
const containers = 'ul ol menu dir dl table td th blockquote section article main aside nav form details body'
const endings = new Map<string, Ending>([
  ['li', { ends: new Set(['li']), within: new Set(containers.split(' ')) }],
  ['td', endOfCell],
  ['th', endOfCell],
  ['tr', { ends: new Set(['tr']), within: new Set(['table', ...sections]) }],
  ...sections.map(name => [name, endOfSection] as const),
])

/** Max levels up to look for elements that a tag ends: a page can leave tags open without end. */
const levelsEnded = 30

/** Ends the item or cell before, even with open tags in it; the parser ends it only without open tags. */
function endBefore(name: string, open: HtmlElement[]): void {
  const ending = endings.get(name)
  if (ending === undefined) return
  const highest = Math.max(1, open.length - levelsEnded)
  let end = open.length
  for (let level = open.length - 1; level >= highest; level--) {
    const above = open[level]?.name ?? ''
    if (ending.within.has(above)) break
    if (ending.ends.has(above)) end = level
  }
  open.length = end
}

/** Returns all elements below in document order, without recursion, which deep pages would break. */
export function elementsOf(root: HtmlElement): HtmlElement[] {
  const elements: HtmlElement[] = []
  const open = [...root.children].reverse()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node === 'string') continue
    elements.push(node)
    for (let at = node.children.length - 1; at >= 0; at--) open.push(node.children[at] ?? '')
  }
  return elements
}

/** Returns all texts below in document order. */
export function textsOf(root: HtmlElement): string[] {
  const texts: string[] = []
  const open = [...root.children].reverse()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node === 'string') texts.push(node)
    else for (let at = node.children.length - 1; at >= 0; at--) open.push(node.children[at] ?? '')
  }
  return texts
}

export function textOf(root: HtmlElement): string {
  return textsOf(root).join('')
}

/** Removes unwanted elements, with all that is below them. */
export function removeElements(root: HtmlElement, isUnwanted: (element: HtmlElement) => boolean): void {
  const open = [root]
  for (let element = open.pop(); element !== undefined; element = open.pop()) {
    const keptChildren = element.children.filter(child => typeof child === 'string' || !isUnwanted(child))
    if (keptChildren.length < element.children.length) element.children = keptChildren
    for (const child of keptChildren) if (typeof child !== 'string') open.push(child)
  }
}

/** Returns the number of nodes below an element, and of their levels. */
export function shapeOf(root: HtmlElement): { nodes: number; depth: number } {
  let nodes = 0
  let depth = 0
  let level: HtmlNode[] = root.children
  while (level.length > 0) {
    nodes += level.length
    depth += 1
    level = level.flatMap(node => (typeof node === 'string' ? [] : node.children))
  }
  return { nodes, depth }
}
