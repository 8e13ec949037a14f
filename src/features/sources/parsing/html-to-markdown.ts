import { gfm } from '@joplin/turndown-plugin-gfm'
import TurndownService from 'turndown'
import type { HtmlDocument, HtmlElement } from './html-dom.ts'
import { shapeOf } from './html-dom.ts'
import { limits } from './limits.ts'

/** Elements that carry no text of the page. */
const silent = 'script, style, noscript, template, svg, math annotation, iframe, object, canvas, link, meta'
const blocksInCells = ['ul', 'ol', 'li', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'blockquote', 'pre']
const tableParts = 'thead, tbody, tfoot, tr, td, th, caption, colgroup'

interface MarkdownOptions {
  /** False leaves characters such as `_` and `*` as they stand and drops emphasis: text to be searched and quoted. */
  markup: boolean
}

/** Markdown with headings as `#`, tables as GitHub writes them, and images as their description. Changes `root`. */
export function toMarkdown(document: HtmlDocument, root: HtmlElement, options: MarkdownOptions): string {
  for (const element of root.querySelectorAll(silent)) element.remove()
  if (shapeOf(root).depth > limits.htmlDepth) return root.textContent?.trim() ?? ''
  flattenTables(document, root)
  return turndown(options).turndown(root.innerHTML).trim()
}

function turndown({ markup }: MarkdownOptions): TurndownService {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
  })
  service.use(gfm)
  service.addRule('image', { filter: 'img', replacement: (_content, node) => node.getAttribute('alt') ?? '' })
  service.addRule('link', {
    filter: node => node.nodeName === 'A',
    replacement: (content, node) => link(content, node.getAttribute('href') ?? ''),
  })
  if (!markup) {
    service.escape = text => text
    service.addRule('emphasis', {
      filter: ['b', 'strong', 'i', 'em', 's', 'del', 'strike', 'code'],
      replacement: content => content,
    })
  }
  return service
}

function link(text: string, href: string): string {
  const label = text.replace(/\s+/g, ' ').trim()
  return label !== '' && /^(?:https?|mailto):/i.test(href) ? `[${label}](${href})` : text
}

/**
 * A table cell of markdown is one line: tables that only lay a page out become blocks, and lists and headings inside
 * cells become lines, where the table plugin would fall back to HTML.
 */
function flattenTables(document: HtmlDocument, root: HtmlElement): void {
  const outer = [...root.querySelectorAll('table')].filter(table => table.querySelector('table') !== null)
  for (const table of outer) {
    const own = [...table.querySelectorAll(tableParts)].filter(part => part.closest('table') === table)
    for (const part of [...own, table]) rename(document, part, 'div')
  }
  for (const block of root.querySelectorAll(blocksInCells.map(tag => `td ${tag}, th ${tag}`).join(', '))) {
    rename(document, block, 'div')
  }
}

function rename(document: HtmlDocument, element: HtmlElement, tagName: string): void {
  const replacement = document.createElement(tagName)
  for (let child = element.firstChild; child !== null; child = element.firstChild)
    replacement.appendChild(child)
  element.replaceWith(replacement)
}
