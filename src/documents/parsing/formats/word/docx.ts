import { markdownPieces } from '../../markdown-pieces.ts'
import type { ParsedDocument } from '../../parsed-document.ts'
import { documentOf, UnreadableDocument } from '../../parsed-document.ts'
import { unwrapWordText } from './word-xml.ts'
import { assertInflatesWithinLimits } from './zip-size.ts'

/** The container of Word before 2007, and of encrypted documents since (MS-CFB, section 2.2). */
const compoundFileSignature = [0xd0, 0xcf, 0x11, 0xe0]

/** Marks that lead to a note and back; the notes themselves are kept, at the end. */
const noteMark = /^#(?:footnote|endnote|comment)/

/** Makes mammoth keep comments, which it puts behind the text. */
const withComments = ['comment-reference => sup']

/** As mammoth writes them in place of any sign; all other `<` are escaped. */
const checkboxes = /<input type="checkbox"( checked="checked")? \/>/g

/** Paragraphs, lists, tables, notes and comments as plain markdown; headings are sections. */
export async function parseDocx(bytes: Uint8Array): Promise<ParsedDocument> {
  if (compoundFileSignature.every((byte, index) => bytes[index] === byte)) {
    throw new UnreadableDocument(
      'This document is protected by a password or of an older Word version. Save it as .docx without a password.',
    )
  }
  await assertInflatesWithinLimits(bytes)
  const { parseHtml, removeElements } = await import('../../html/html-tree.ts')
  const { toMarkdown } = await import('../../html/html-to-markdown.ts')
  const { html, warnings } = await readWord(bytes)
  const { body } = parseHtml(html.replace(checkboxes, checkboxSign))
  removeElements(body, ({ name, attributes }) => name === 'a' && noteMark.test(attributes.href ?? ''))
  const document = documentOf(markdownPieces(toMarkdown(body, { markup: false })))
  return warnings.length === 0 ? document : { ...document, warnings }
}

function checkboxSign(_input: string, checked: string | undefined): string {
  return checked === undefined ? '☐' : '☒'
}

async function readWord(bytes: Uint8Array): Promise<{ html: string; warnings: string[] }> {
  try {
    // Where something in it is out of order, such as a header, or a comment that is not there, what mammoth reads by itself
    // is better than nothing.
    const { archive: unwrapped, objects } = await unwrapWordText(bytes)
    const html = await toHtml(unwrapped, withComments)
      .catch(() => toHtml(unwrapped))
      .catch(() => toHtml(bytes))
    const warnings = new Set(objects.map(id => `An embedded object (${id}) was not read.`))
    return { html, warnings: [...warnings] }
  } catch (error) {
    throw new UnreadableDocument('This file is damaged or not a Word document (.docx).', error)
  }
}

/** HTML of what can be read of the document; pictures, external files and its own style map are left alone. */
async function toHtml(
  { buffer, byteOffset, byteLength }: Uint8Array,
  styleMap: string[] = [],
): Promise<string> {
  const { default: mammoth } = await import('mammoth')
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(buffer, byteOffset, byteLength) },
    {
      externalFileAccess: false,
      styleMap,
      includeEmbeddedStyleMap: false,
      convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
    },
  )
  return value
}
