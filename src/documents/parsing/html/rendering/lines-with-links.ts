import type { HtmlElement, HtmlNode } from '../html-tree.ts'
import { type Holdings, linkTarget, silent } from './content-kinds.ts'
import { escaped } from './escapes.ts'

/** Returns preformatted text with its lines unchanged and its links, such as an archive of mail. */
export function linesWithLinks(
  pre: HtmlElement,
  { markup, holdings }: { markup: boolean; holdings: Holdings },
): string {
  const pieces: string[] = []

  function add(node: HtmlNode): void {
    if (typeof node === 'string') {
      const lines = node.replace(/\r\n?/g, '\n').split('\n')
      // Text after a link or a mark is within a line.
      const isFirst = (at: number) => at > 0 || pieces.at(-1)?.endsWith('\n') !== false
      pieces.push(lines.map((line, at) => (markup ? escaped(line, isFirst(at)) : line)).join('\n'))
      return
    }
    if (silent.has(node.name)) return
    if (node.name === 'br') pieces.push('\n')
    if (node.name === 'img') pieces.push(node.attributes.alt ?? '')
    const target = holdings(node).link ? undefined : linkTarget(node)
    if (target !== undefined) pieces.push('[')
    node.children.forEach(add)
    if (target !== undefined) pieces.push(`](${target})`)
  }

  pre.children.forEach(add)
  return pieces.join('').replace(/^\n/, '').trimEnd()
}
