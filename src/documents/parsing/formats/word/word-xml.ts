/** XML of Word documents, with one prefix for each namespace, independent of the author's choice. */
import { Parser } from 'htmlparser2'
import { elementsOf, type HtmlElement, type HtmlNode, textOf } from '../../html/html-tree.ts'
import { damagedDocument } from './damaged-document.ts'

export type XmlElement = HtmlElement

const microsoft = 'http://schemas.microsoft.com/office'
const prefixes = new Map([
  ['http://purl.oclc.org/ooxml/wordprocessingml/main', 'w'],
  ['http://purl.oclc.org/ooxml/officeDocument/relationships', 'r'],
  ['http://purl.oclc.org/ooxml/officeDocument/math', 'm'],
  ['http://purl.oclc.org/ooxml/drawingml/main', 'a'],
  ['http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing', 'wp'],
  ['http://purl.oclc.org/ooxml/drawingml/picture', 'pic'],
  ['http://purl.oclc.org/ooxml/drawingml/chart', 'c'],
  ['http://purl.oclc.org/ooxml/drawingml/diagram', 'dgm'],
  ['http://purl.oclc.org/ooxml/package/relationships', 'rel'],
  ['http://purl.oclc.org/ooxml/package/content-types', 'type'],
  [`${microsoft}/drawing/2017/decorative`, 'adec'],
  ['http://schemas.openxmlformats.org/markup-compatibility/2006', 'mc'],
  [`${microsoft}/word/2010/wordml`, 'w14'],
  [`${microsoft}/word/2010/wordprocessingShape`, 'wps'],
  [`${microsoft}/word/2010/wordprocessingGroup`, 'wps'],
  [`${microsoft}/drawing/2014/chartex`, 'cx'],
  ['urn:schemas-microsoft-com:vml', 'v'],
  ['urn:schemas-microsoft-com:office:office', 'o'],
])
/** Transitional documents have the strict names with another beginning. */
const transitional = /^http:\/\/schemas\.openxmlformats\.org\/(\w+)\/2006\//

/** Max depth, far above real documents, and low enough for recursive readers. */
const maxDepth = 1_000

type Scope = ReadonlyMap<string, string>

/** Returns the root element; those of unknown namespaces have the prefix `?`. Throws `UnreadableDocument`. */
export function parseXml(xml: string): XmlElement {
  const root: XmlElement = { name: '', attributes: {}, children: [] }
  const open: { element: XmlElement; scope: Scope }[] = [{ element: root, scope: new Map() }]
  const parser = new Parser(
    {
      onprocessinginstruction(name) {
        // Word writes no doctype, which could declare entities.
        if (/^!doctype/i.test(name)) throw damagedDocument()
      },
      onopentag(name, written) {
        const parent = open.at(-1)
        if (parent === undefined || open.length > maxDepth) throw damagedDocument()
        const scope = scopeWithin(parent.scope, written)
        const attributes = Object.entries(written).map(([key, value]) => [
          key.includes(':') ? nameIn(scope, key) : key,
          value,
        ])
        const element = {
          name: nameIn(scope, name),
          attributes: Object.fromEntries(attributes),
          children: [],
        }
        parent.element.children.push(element)
        open.push({ element, scope })
      },
      ontext: text => void open.at(-1)?.element.children.push(text),
      onclosetag: () => void open.pop(),
    },
    { xmlMode: true },
  )
  parser.write(xml.replace(/^\uFEFF/, ''))
  // The parser closes the open elements of an incomplete part.
  const isWhole = open.length === 1
  parser.end()
  const element = root.children.find(node => typeof node !== 'string')
  if (!isWhole || element === undefined) throw damagedDocument()
  return element
}

function scopeWithin(scope: Scope, attributes: Record<string, string>): Scope {
  const own = Object.entries(attributes).filter(([key]) => /^xmlns(?::|$)/.test(key))
  if (own.length === 0) return scope
  return new Map([
    ...scope,
    ...own.map(([key, uri]): [string, string] => {
      const namespace = uri.replace(transitional, 'http://purl.oclc.org/ooxml/$1/')
      return [key.slice('xmlns:'.length), prefixes.get(namespace) ?? '?']
    }),
  ])
}

function nameIn(scope: Scope, name: string): string {
  const colon = name.indexOf(':')
  return `${scope.get(name.slice(0, Math.max(0, colon))) ?? '?'}:${name.slice(colon + 1)}`
}

const writable = /^(?:w|w14|r):[\w.-]+$/
const namespaces = {
  'xmlns:w': 'http://schemas.openxmlformats.org/wordprocessingml/2006/main',
  'xmlns:w14': `${microsoft}/word/2010/wordml`,
  'xmlns:r': 'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
}

/** Writes a part with that root, with elements and attributes only of the namespaces of text and links. */
export function writeXml(root: XmlElement): string {
  const declarations = Object.entries(namespaces).map(([name, uri]) => ` ${name}="${uri}"`)
  return write(root).replace(`<${root.name}`, `$&${declarations.join('')}`)
}

function write(node: HtmlNode): string {
  if (typeof node === 'string') return escapeXml(node)
  const { name, attributes, children } = node
  if (!writable.test(name)) return ''
  const written = Object.entries(attributes).filter(([key]) => writable.test(key))
  const tag = `${name}${written.map(([key, value]) => ` ${key}="${escapeXml(value)}"`).join('')}`
  return `<${tag}>${children.map(write).join('')}</${name}>`
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`)
}

export function element(
  name: string,
  children: HtmlNode[] = [],
  attributes: Record<string, string> = {},
): XmlElement {
  return { name, attributes, children }
}

export function child(parent: XmlElement | undefined, name: string): XmlElement | undefined {
  return parent?.children.find((node): node is XmlElement => typeof node !== 'string' && node.name === name)
}

export function all(parent: XmlElement | undefined, name: string): XmlElement[] {
  return parent === undefined ? [] : elementsOf(parent).filter(below => below.name === name)
}

/** Returns the `w:val` of a child. */
export function settingOf(parent: XmlElement | undefined, name: string): string | undefined {
  return child(parent, name)?.attributes['w:val']
}

/** Returns true if a child switches something on; undefined without such a child. */
export function switchOf(parent: XmlElement | undefined, name: string): boolean | undefined {
  const found = child(parent, name)
  return found && isOn(found.attributes['w:val'])
}

export function isOn(value = 'true'): boolean {
  return !['0', 'false', 'off'].includes(value)
}

/** Returns the texts of all paragraphs of DrawingML, which titles of charts and boxes of diagrams have. */
export function drawnLines(root: XmlElement): string[] {
  const lines = all(root, 'a:p').map(line => all(line, 'a:t').map(textOf).join(''))
  return lines.filter(line => line.trim() !== '')
}
