/** The kinds of elements in Markdown, and of their content. */
import type { HtmlElement, HtmlNode } from '../html-tree.ts'

const names = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Elements that begin a new line. */
export const blocks =
  names(`address article aside audio blockquote body canvas caption center dd details dialog dir div dl dt
  fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html isindex legend li main menu nav
  noframes ol optgroup option output p pre search section select summary table tbody td text textarea tfoot th thead tr ul`)
export const lists = names('ul ol menu dir select datalist optgroup')
/** Items of lists, at any place. */
export const items = names('li option')
export const tableSections = names('thead tbody tfoot')
export const cells = names('td th')
/** Elements without text of the page. A `colgroup` is none: without its end tag, it holds what follows. */
export const silent = names(
  'script style noscript template iframe object canvas link meta annotation annotation-xml',
)

/** The kinds of all content below an element. */
interface Holding {
  block: boolean
  link: boolean
  table: boolean
  /** True for a cell of a table that begins outside. */
  cell: boolean
}

export type Holdings = (element: HtmlElement) => Holding

const nothing: Holding = { block: false, link: false, table: false, cell: false }

/** Visits each element only once. For trees of limited depth. */
export function createHoldings(): Holdings {
  const known = new Map<HtmlElement, Holding>()
  const holdings: Holdings = element => {
    const found = known.get(element) ?? element.children.reduce(addNode, nothing)
    known.set(element, found)
    return found
  }
  const addNode = (sum: Holding, node: HtmlNode): Holding => {
    if (typeof node === 'string') return sum
    const below = holdings(node)
    const isTable = node.name === 'table'
    return {
      block: sum.block || below.block || blocks.has(node.name),
      link: sum.link || below.link || linkTarget(node) !== undefined,
      table: sum.table || below.table || isTable,
      cell: sum.cell || (!isTable && (below.cell || cells.has(node.name) || node.name === 'tr')),
    }
  }
  return holdings
}

/** Returns a link's target that works elsewhere, in the form for the brackets of a link. */
export function linkTarget({ name, attributes }: HtmlElement): string | undefined {
  const href = name === 'a' ? attributes.href?.trim() : undefined
  if (href === undefined || !/^(?:https?|mailto|tel):/i.test(href)) return undefined
  const target = href.replace(/\s+/g, '%20')
  return isBalanced(target) ? target : target.replaceAll('(', '%28').replaceAll(')', '%29')
}

/** Returns true for balanced brackets: markdown takes a closing one too many for the end of the link. */
function isBalanced(target: string): boolean {
  let open = 0
  for (const [bracket] of target.matchAll(/[()]/g)) {
    open += bracket === '(' ? 1 : -1
    if (open < 0) return false
  }
  return open === 0
}
