/** Tables as GitHub writes them. */
import type { HtmlElement, HtmlNode } from '../html-tree.ts'
import type { Holdings } from './content-kinds.ts'
import { cells, silent, tableSections } from './content-kinds.ts'

export interface Table {
  rows: Row[]
  /** What stands in the table, but in none of its rows: browsers show it above. */
  besides: HtmlNode[]
}

interface Row {
  isHead: boolean
  cells: HtmlElement[]
}

/** The rows of a table, in whatever its author has wrapped them. */
export function tableOf(table: HtmlElement, holdings: Holdings): Table {
  const rows: Row[] = []
  const besides: HtmlNode[] = []

  /** `loose`: the row to which cells belong that stand in none, since its own tag is missing. */
  function add(node: HtmlNode, isHead: boolean, loose: Row): void {
    if (typeof node === 'string') {
      if (node.trim() !== '') besides.push(node)
    } else if (isCell(node)) {
      if (loose.cells.push(node) === 1) rows.push(loose)
    } else if (node.name === 'tr') addAll(node.children, isHead)
    else if (tableSections.has(node.name) || holdings(node).cell)
      addAll(node.children, isHead || node.name === 'thead')
    else if (!silent.has(node.name)) besides.push(node)
  }

  function addAll(nodes: readonly HtmlNode[], isHead: boolean): void {
    let loose: Row = { isHead, cells: [] }
    for (const node of nodes) {
      add(node, isHead, loose)
      if (typeof node !== 'string' && node.name === 'tr') loose = { isHead, cells: [] }
    }
  }

  addAll(table.children, false)
  return { rows, besides }
}

function isCell(element: HtmlElement): boolean {
  return cells.has(element.name)
}

/** A table of one cell, or one with tables in it, is there for how the page looks. */
export function isLayout(table: HtmlElement, { rows }: Table, holdings: Holdings): boolean {
  return holdings(table).table || (rows.length === 1 && rows[0]?.cells.length === 1)
}

/** Columns that a cell may take; its author can name any number. */
const widestCell = 20

/** Rows of cells as lines; undefined where no cell holds text. */
export function tableText({ rows }: Table, textOfCell: (cell: HtmlElement) => string): string | undefined {
  const lines = rows
    .map(row => ({ ...row, texts: row.cells.flatMap(cell => [textOfCell(cell), ...spanned(cell)]) }))
    .filter(({ texts }) => texts.some(text => text !== ''))
  const [first] = lines
  if (first === undefined) return undefined
  const columns = lines.reduce((most, { texts }) => Math.max(most, texts.length), 1)
  const hasHead = first.isHead || first.cells.every(({ name }) => name === 'th')
  const head = hasHead ? first.texts : []
  const body = hasHead ? lines.slice(1) : lines
  const empty = (text: string) => Array.from({ length: columns }, () => text)
  return [[...head, ...empty('').slice(head.length)], empty('---'), ...body.map(({ texts }) => texts)]
    .map(texts => `| ${texts.map(text => text.padEnd(3)).join(' | ')} |`)
    .join('\n')
}

function spanned({ attributes }: HtmlElement): string[] {
  const span = Math.min(Number.parseInt(attributes.colspan ?? '', 10) || 1, widestCell)
  return Array.from({ length: Math.max(0, span - 1) }, () => '')
}

/** A cell is one line. */
export function cellText(text: string): string {
  return text
    .trim()
    .replace(/[ ]*\n/g, '<br>')
    .replaceAll('|', '\\|')
}
