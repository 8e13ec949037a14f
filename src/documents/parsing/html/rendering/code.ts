/** Code, which markdown leaves unchanged. */
import type { HtmlElement, HtmlNode } from '../html-tree.ts'
import { silent } from './content-kinds.ts'

/** Returns code within a line, between more backticks than it has in a row. */
export function codeSpan(code: string): string {
  const fence = '`'.repeat(maxRun(code, /`+/g) + 1)
  const space = /^`|`$/.test(code) ? ' ' : ''
  return `${fence}${space}${code}${space}${fence}`
}

/** Returns the lines of a `pre` element between fences. */
export function codeBlock(pre: HtmlElement, language: string): string | undefined {
  const code = preformatted(pre).replace(/\r\n?/g, '\n').replace(/^\n/, '').trimEnd()
  if (code === '') return undefined
  // Up to three spaces can be before the end of the block.
  const fence = '`'.repeat(Math.max(3, maxRun(code, /(?<=^ {0,3})`{3,}/gm) + 1))
  return `${fence}${language}\n${code}\n${fence}`
}

function preformatted(node: HtmlNode): string {
  if (typeof node === 'string') return node
  if (node.name === 'br') return '\n'
  if (node.name === 'img') return node.attributes.alt ?? ''
  return silent.has(node.name) ? '' : node.children.map(preformatted).join('')
}

function maxRun(text: string, runs: RegExp): number {
  let longest = 0
  for (const [run] of text.matchAll(runs)) longest = Math.max(longest, run.length)
  return longest
}

/** Returns the highlighters' name, on the element itself, the code in it or the one around it. */
export function languageOf(pre: HtmlElement, parent: HtmlElement | undefined): string {
  const [first] = pre.children
  const code = typeof first === 'object' ? first.attributes.class : undefined
  for (const names of [code, pre.attributes.class, parent?.attributes.class]) {
    const [, language] =
      /(?:^|\s)(?:lang(?:uage)?|highlight-(?:text|source))-([\w+#.-]{1,30})/.exec(names ?? '') ?? []
    if (language !== undefined) return language
  }
  return ''
}
