import type { HtmlNode } from '../../html/html-tree.ts'
import { child, type XmlElement } from './word-xml.ts'

/** Returns a formula in one line, with signs for parts above, below or in brackets. */
export function formulaText(node: HtmlNode): string {
  if (typeof node === 'string') return ''
  const { name, children } = node
  const inner = () => children.map(formulaText).join('')
  if (name === 'm:t' || name === 'w:t') return children.join('')
  const write = signs.get(name)
  return write === undefined ? inner() : write(inner(), node)
}

const signs = new Map<string, (inner: string, node: XmlElement) => string>([
  ['m:sup', inner => inner && `^${grouped(inner)}`],
  ['m:sub', inner => inner && `_${grouped(inner)}`],
  ['m:num', grouped],
  ['m:den', inner => `/${grouped(inner)}`],
  ['m:deg', inner => inner],
  ['m:rad', (_, node) => `${part(node, 'm:deg')}√${grouped(part(node, 'm:e'))}`],
  ['m:nary', (inner, node) => property(node, 'm:naryPr', 'm:chr', '∫') + inner],
  ['m:d', (_, node) => inBrackets(node)],
])

function grouped(inner: string): string {
  return /^[\p{L}\p{N}.,]*$/u.test(inner) ? inner : `(${inner})`
}

function part(node: XmlElement, name: string): string {
  return (child(node, name)?.children ?? []).map(formulaText).join('')
}

function property(node: XmlElement, properties: string, name: string, fallback: string): string {
  return child(child(node, properties), name)?.attributes['m:val'] ?? fallback
}

function inBrackets(node: XmlElement): string {
  const sign = (name: string, fallback: string) => property(node, 'm:dPr', name, fallback)
  const parts = node.children.filter(part => typeof part !== 'string' && part.name === 'm:e')
  return sign('m:begChr', '(') + parts.map(formulaText).join(sign('m:sepChr', '|')) + sign('m:endChr', ')')
}
