/** Tables in the form of GitHub. */
import type { HtmlElement, HtmlNode } from '../html-tree.ts'
import { cells, type Holdings, silent, tableSections } from './content-kinds.ts'

export interface Table {
  rows: Row[]
  /** Content of the table outside its rows: browsers show it above. */
  besides: HtmlNode[]
}

interface Row {
  isHead: boolean
  cells: HtmlElement[]
}

/** Returns the rows of a table, in any wrapper of its author. */
export function tableOf(table: HtmlElement, holdings: Holdings): Table {
  const rows: Row[] = []
  const besides: HtmlNode[] = []

  /** `loose`: the row of cells without one, because its tag is missing. */
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

/** Returns true for a table of one cell, or with tables in it, which is only for the layout. */
export function isLayout(table: HtmlElement, { rows }: Table, holdings: Holdings): boolean {
  return holdings(table).table || (rows.length === 1 && rows[0]?.cells.length === 1)
}

/** Max columns of a cell; its author can name any number. */
const widestCell = 20
/** Max places of cells from above: in all, and for each cell of the table. */
const placesBelow = { inAll: 1_000, perCell: 4 }

/** Returns rows of cells as lines; undefined if no cell holds text. */
export function tableText({ rows }: Table, textOfCell: (cell: HtmlElement) => string): string | undefined {
  const inColumns = columnwise(textOfCell)
  const lines = rows
    .map(row => ({ ...row, texts: inColumns(row.cells) }))
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

/** Returns the texts of each row by column: places that a cell takes to its right or below are empty. */
function columnwise(textOfCell: (cell: HtmlElement) => string): (row: readonly HtmlElement[]) => string[] {
  /** The first row by column that no cell from above reaches. */
  const free: number[] = []
  let rows = 0
  let room = placesBelow.inAll
  return row => {
    const texts: string[] = []
    for (const cell of row) {
      for (; room > 0 && (free[texts.length] ?? 0) > rows; room--) texts.push('')
      const next = rows + spanOf(cell.attributes.rowspan)
      for (const text of [textOfCell(cell), ...emptyBeside(cell)]) free[texts.push(text) - 1] = next
      room += placesBelow.perCell
    }
    rows++
    return texts
  }
}

function emptyBeside({ attributes }: HtmlElement): string[] {
  const columns = Math.min(spanOf(attributes.colspan), widestCell)
  return Array.from({ length: columns - 1 }, () => '')
}

function spanOf(declared: string | undefined): number {
  return Math.max(1, Number.parseInt(declared ?? '', 10) || 1)
}

/** Returns a cell's text as one line. */
export function cellText(text: string): string {
  return text
    .trim()
    .replace(/[ ]*\n/g, '<br>')
    .replaceAll('|', '\\|')
}
