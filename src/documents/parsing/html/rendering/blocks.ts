/** Writes a tree of HTML, block by block. For trees of limited depth. */
import { type HtmlElement, type HtmlNode, textOf } from '../html-tree.ts'
import { type BlockWriter, createBlockWriter } from './block-writer.ts'
import { codeBlock, languageOf } from './code.ts'
import { blocks, createHoldings, type Holdings, items, linkTarget, lists, silent } from './content-kinds.ts'
import { inlineText } from './inline-text.ts'
import { linesWithLinks } from './lines-with-links.ts'
import { cellText, isLayout, tableOf, tableText } from './table.ts'

export interface BlockOptions {
  /** False keeps characters such as `_` and `*` and drops emphasis, for text to search and quote. */
  markup: boolean
}

interface Context extends BlockOptions {
  holdings: Holdings
  writer: BlockWriter
  /** True in a cell, where blocks are lines without marks. */
  isCell: boolean
  isItem: boolean
}

/** Max characters of a heading, or of a link around blocks, in one line; longer ones were never closed. */
const maxLineLength = 1_000

export function blocksAsMarkdown(root: HtmlElement, options: BlockOptions): string {
  const writer = createBlockWriter()
  writeAll([root], { ...options, writer, holdings: createHoldings(), isCell: false, isItem: false })
  return writer.text()
}

/** Writes all nodes; text between blocks is a paragraph of its own. */
function writeAll(nodes: readonly HtmlNode[], context: Context, parent?: HtmlElement): void {
  let between: HtmlNode[] = []
  const end = () => {
    writeText(between, context)
    between = []
  }
  for (const node of nodes) {
    if (typeof node !== 'string' && isBlock(node, context)) {
      end()
      writeBlock(node, context, parent)
    } else between.push(node)
  }
  end()
}

function isBlock(element: HtmlElement, { holdings }: Context): boolean {
  if (blocks.has(element.name)) return true
  return holdings(element).block && !silent.has(element.name) && !isLinkedLine(element, holdings)
}

/** Returns true for a line that is all a link, such as a card. */
function isLinkedLine(element: HtmlElement, holdings: Holdings): boolean {
  return linkTarget(element) !== undefined && !holdings(element).link && isLine(element)
}

function isLine(element: HtmlElement): boolean {
  return textOf(element).length <= maxLineLength
}

function writeText(nodes: readonly HtmlNode[], { writer, isItem, markup, holdings }: Context): void {
  if (nodes.length === 0) return
  const text = inlineText(nodes, { markup, holdings, isItem, breaks: true })
  if (text !== '') writer.write(text)
}

function writeBlock(element: HtmlElement, context: Context, parent: HtmlElement | undefined): void {
  const { writer, isCell, markup } = context
  const { name } = element
  if (silent.has(name)) return
  if (lists.has(name) && !isCell) writeList(element, context)
  else if (items.has(name) && !isCell) writeItem(element, '-   ', context)
  else if (name === 'dd' && markup && !isCell) writeItem(element, ':   ', context)
  else {
    writer.separate(2)
    writeOther(element, context, parent)
    // The meaning of a term is in the next line.
    writer.separate(name === 'dt' && markup ? 1 : 2)
  }
}

function writeOther(element: HtmlElement, context: Context, parent: HtmlElement | undefined): void {
  const { writer, isCell } = context
  const { name, children } = element
  if (/^h[1-6]$/.test(name) && isLine(element)) writeHeading(element, context)
  else if (name === 'pre') writePreformatted(element, context, parent)
  else if (name === 'table') writeTable(element, context)
  else if (name === 'hr') writeRule(context)
  else if (name === 'blockquote' && !isCell)
    writer.within({ first: '> ', rest: '> ' }, () =>
      writeAll(children, { ...context, isItem: false }, element),
    )
  else writeAll(children, context, element)
}

function writeRule({ writer, isCell }: Context): void {
  if (!isCell) writer.write('* * *')
}

function writeHeading({ name, children }: HtmlElement, { writer, markup, holdings, isCell }: Context): void {
  const text = inlineText(children, { markup, holdings, breaks: false })
  if (text !== '') writer.write(isCell ? text : `${'#'.repeat(Number(name.slice(1)))} ${text}`)
}

function writeList(list: HtmlElement, context: Context): void {
  const { writer, isItem } = context
  writer.separate(isItem ? 1 : 2)
  const start = Math.abs(Number.parseInt(list.attributes.start ?? '', 10)) || 1
  let count = 0
  for (const child of list.children) {
    if (typeof child === 'string' || !items.has(child.name)) {
      // A list among the items instead of in one belongs to the item before.
      const isNested = typeof child !== 'string' && lists.has(child.name) && count > 0
      const write = () => writeAll([child], { ...context, isItem: true })
      if (isNested) writer.within({ first: '    ', rest: '    ' }, write)
      else write()
      continue
    }
    writeItem(child, list.name === 'ol' ? `${start + count}.  ` : '-   ', context)
    count += 1
  }
  writer.separate(isItem ? 1 : 2)
}

function writeItem(item: HtmlElement, mark: string, context: Context): void {
  const { writer } = context
  writer.separate(1)
  writer.within({ first: mark, rest: ' '.repeat(mark.length) }, () =>
    writeAll(item.children, { ...context, isItem: true }, item),
  )
  writer.separate(1)
}

function writePreformatted(pre: HtmlElement, context: Context, parent: HtmlElement | undefined): void {
  const { writer, holdings, markup, isCell } = context
  const isCode =
    pre.children.length === 1 && typeof pre.children[0] === 'object' && pre.children[0].name === 'code'
  // Between fences a link would be lost.
  const isFenced = !isCell && (isCode || !holdings(pre).link)
  const text = isFenced ? codeBlock(pre, languageOf(pre, parent)) : linesWithLinks(pre, { markup, holdings })
  if (text) writer.write(text)
}

function writeTable(element: HtmlElement, context: Context): void {
  const { writer, holdings, isCell } = context
  const table = tableOf(element, holdings)
  writeAll(table.besides, context)
  if (isCell || isLayout(element, table, holdings)) {
    for (const { cells } of table.rows) writeAll(cells, { ...context, isItem: false })
    return
  }
  const text = tableText(table, cell => {
    const inCell = createBlockWriter()
    writeAll(cell.children, { ...context, writer: inCell, isCell: true, isItem: false })
    return cellText(inCell.text())
  })
  if (text !== undefined) writer.write(text)
}
