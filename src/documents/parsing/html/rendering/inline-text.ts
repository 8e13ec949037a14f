/** Text with links, emphasis and code, of a paragraph, a heading or a cell. */
import type { HtmlElement, HtmlNode } from '../html-tree.ts'
import { codeSpan } from './code.ts'
import { blocks, type Holdings, linkTarget, silent } from './content-kinds.ts'
import { createInlineWriter } from './inline-writer.ts'

export interface InlineOptions {
  holdings: Holdings
  /** False keeps characters such as `_` and `*` and drops emphasis, for text to search and quote. */
  markup: boolean
  /** True if it can have several lines. */
  breaks: boolean
  /** True in an item of a list, where a checkbox shows which tasks are done. */
  isItem?: boolean
}

const emphasis = new Map([
  ['b', '**'],
  ['strong', '**'],
  ['i', '_'],
  ['em', '_'],
  ['s', '~~'],
  ['del', '~~'],
  ['strike', '~~'],
])

/** Inputs whose value a browser shows as text, except those that send or reset a form. */
const readable = new Set('text number tel email url date time month week datetime-local button'.split(' '))

/** Returns text with white space as in a browser; blocks, if there are any, are in the same line. */
export function inlineText(nodes: readonly HtmlNode[], options: InlineOptions): string {
  const { holdings, markup, breaks, isItem = false } = options
  const writer = createInlineWriter({ escapes: markup, breaks })
  const open = new Set<string>()
  let depthInLink = 0
  let depthInRaised = 0

  const special = new Map<string, (element: HtmlElement) => void>([
    ['br', () => (depthInLink > 0 ? writer.space() : writer.lineBreak())],
    ['img', ({ attributes }) => writer.text(attributes.alt ?? '')],
    ['input', addInput],
    ['sup', addRaised],
    ['a', link => addLink(link, () => link.children.forEach(add))],
    ['code', markup ? addCode : addOther],
  ])

  function add(node: HtmlNode): void {
    if (typeof node === 'string') depthInRaised > 0 ? writer.raised(node) : writer.text(node)
    else if (!silent.has(node.name)) (special.get(node.name) ?? addOther)(node)
  }

  function addOther({ name, children }: HtmlElement): void {
    const mark = markup ? emphasis.get(name) : undefined
    const isBlock = blocks.has(name)
    if (isBlock) writer.space()
    if (mark === undefined || open.has(mark)) children.forEach(add)
    else {
      open.add(mark)
      writer.within({ before: mark, after: mark }, () => children.forEach(add))
      open.delete(mark)
    }
    if (isBlock) writer.space()
  }

  /** Adds a link; of nested links, which are mistakes, the innermost count. */
  function addLink(link: HtmlElement, work: () => void): void {
    const target = linkTarget(link)
    if (target === undefined || holdings(link).link) {
      work()
      return
    }
    depthInLink += 1
    writer.within({ before: '[', after: `](${target})` }, work)
    depthInLink -= 1
  }

  /** Adds code; links in code are links whose text is code. */
  function addCode({ children }: HtmlElement): void {
    let code = ''
    const end = () => {
      writer.verbatim(code, codeSpan)
      code = ''
    }
    const collect = (node: HtmlNode): void => {
      if (typeof node === 'string') code += node
      else if (node.name === 'br') code += ' '
      else if (linkTarget(node) !== undefined && !holdings(node).link) {
        end()
        addLink(node, () => addCode(node))
      } else if (!silent.has(node.name)) node.children.forEach(collect)
    }
    children.forEach(collect)
    end()
  }

  function addRaised({ children }: HtmlElement): void {
    depthInRaised += 1
    children.forEach(add)
    depthInRaised -= 1
  }

  function addInput({ attributes }: HtmlElement): void {
    const type = attributes.type?.toLowerCase() ?? 'text'
    if (readable.has(type)) writer.text(attributes.value ?? '')
    if (!isItem || type !== 'checkbox') return
    writer.verbatim(attributes.checked === undefined ? '[ ]' : '[x]', box => box)
    writer.space()
  }

  nodes.forEach(add)
  return writer.result()
}
