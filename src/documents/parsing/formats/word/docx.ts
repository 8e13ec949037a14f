import { decodeText } from '../../encoding/decode-text.ts'
import { elementsOf, type HtmlElement, parseHtml, removeElements, textOf } from '../../html/html-tree.ts'
import { pageText } from '../../html/page-text.ts'
import { markdownPieces } from '../../markdown-pieces.ts'
import { documentOf, type ParsedDocument, UnreadableDocument } from '../../parsed-document.ts'
import { damagedDocument } from './damaged-document.ts'
import { plainWord } from './plain-word.ts'
import { openPackage, type WordPackage } from './word-package.ts'
import { createWordText, unreadSymbol } from './word-text.ts'
import { element } from './word-xml.ts'
import { assertInflatesWithinLimits } from './zip-size.ts'

/** The container of Word before 2007, and of later encrypted documents (MS-CFB, section 2.2). */
const compoundFileSignature = [0xd0, 0xcf, 0x11, 0xe0]

/** Marks that link to a note and back; the notes themselves are kept, at the end. */
const noteMark = /^#(?:footnote|endnote|comment)/

/** Makes mammoth keep comments, behind the text. */
const styleMap = ['comment-reference => sup']

/** Checkboxes that mammoth writes instead of any sign; all other `<` are escaped. */
const checkboxes = /<input type="checkbox"( checked="checked")? \/>/g

const maxWarnings = 50
const maxWarningLength = 200
/** Max levels of embedded documents. */
const maxNesting = 3

/** Returns text, lists, tables, drawings, notes and comments as plain markdown; headings are sections. */
export async function parseDocx(bytes: Uint8Array): Promise<ParsedDocument> {
  const warnings = new Set<string>()
  const warn = (text: string) => {
    if (warnings.size < maxWarnings) warnings.add(text.slice(0, maxWarningLength))
  }
  const { toMarkdown } = await import('../../html/html-to-markdown.ts')
  const body = await readWord(bytes, warn, 1)
  const document = documentOf(markdownPieces(toMarkdown(body, { markup: false })))
  if (warnings.size === 0) return document
  if (!/\S/.test(document.text)) throw damagedDocument()
  return { ...document, warnings: [...warnings] }
}

async function readWord(
  bytes: Uint8Array,
  warn: (text: string) => void,
  nesting: number,
): Promise<HtmlElement> {
  if (compoundFileSignature.every((byte, index) => bytes[index] === byte)) {
    throw new UnreadableDocument(
      'This document is protected by a password or of an older Word version. Save it as .docx without a password.',
    )
  }
  await assertInflatesWithinLimits(bytes)
  const parts = await openPackage(bytes, warn).catch(error => {
    throw damagedDocument(error)
  })
  const text = createWordText(parts, warn)
  const html = await toHtml(await plainWord(parts, text), warn)
  const { body } = parseHtml(html.replace(checkboxes, checkboxSign))
  removeElements(body, ({ name, attributes }) => name === 'a' && noteMark.test(attributes.href ?? ''))
  const paragraphs = text.chunks.size === 0 ? [] : elementsOf(body).filter(({ name }) => name === 'p')
  for (const paragraph of paragraphs) {
    const chunk = text.chunks.get(textOf(paragraph))
    if (chunk === undefined) continue
    const read = await readChunk(parts, chunk, warn, nesting)
    Object.assign(paragraph, { name: 'div', children: read?.children ?? [] })
  }
  return body
}

function checkboxSign(_input: string, checked: string | undefined): string {
  return checked === undefined ? '☐' : '☒'
}

const unknownSymbol = /^A w:sym element .*: char (.*) in font (.*)$/

async function toHtml(archive: Uint8Array, warn: (text: string) => void): Promise<string> {
  const { default: mammoth } = await import('mammoth')
  const input = { buffer: Buffer.from(archive) }
  const { value, messages } = await mammoth
    .convertToHtml(input, { externalFileAccess: false, styleMap })
    .catch(error => {
      throw damagedDocument(error)
    })
  for (const { message } of messages) {
    const [, char, font] = unknownSymbol.exec(message) ?? []
    if (char !== undefined && font !== undefined) warn(unreadSymbol(char, font))
  }
  return value
}

/** Reads a document that another one embeds; returns undefined, with a warning, if no parser reads it. */
async function readChunk(
  parts: WordPackage,
  name: string,
  warn: (text: string) => void,
  nesting: number,
): Promise<HtmlElement | undefined> {
  const bytes = parts.bytes(name) ?? new Uint8Array()
  const type = parts.contentType(name)
  if (/html|\.htm$/i.test(`${type} ${name}`)) return parseHtml(pageText(bytes, 'text/html') ?? '').body
  if (/^text\/(?!rtf)/i.test(type)) {
    const lines = decodeText(bytes).split('\n')
    return element(
      'div',
      lines.map(line => element('p', [line])),
    )
  }
  const isWord = nesting < maxNesting && /wordprocessingml/i.test(type)
  const read = isWord ? await readWord(bytes, warn, nesting + 1).catch(unlessUnreadable) : undefined
  if (read === undefined)
    warn(`An embedded document (${name}, ${type || 'of an unknown kind'}) was not read.`)
  return read
}

function unlessUnreadable(error: unknown): undefined {
  if (!(error instanceof UnreadableDocument)) throw error
}
