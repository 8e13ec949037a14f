import type { DocumentFormat } from './document-format.ts'
import { parseCsv } from './formats/csv.ts'
import { parseJson } from './formats/json.ts'
import { parseMarkdown } from './formats/markdown.ts'
import { parsePdf } from './formats/pdf/pdf.ts'
import { parseText } from './formats/text.ts'
import { parseDocx } from './formats/word/docx.ts'
import { limits } from './limits.ts'
import { type ParsedDocument, type Parser, tooMuchText, UnreadableDocument } from './parsed-document.ts'

const parsers = {
  pdf: parsePdf,
  txt: parseText,
  md: parseMarkdown,
  docx: parseDocx,
  json: parseJson,
  csv: parseCsv,
} satisfies Record<DocumentFormat, Parser>

/**
 * Turns the bytes of a file into text; throws `UnreadableDocument` if they hold none. It can take as much
 * time and memory as the file's author wants: run it only in a thread that can be killed.
 */
export async function parseDocument(format: DocumentFormat, bytes: Uint8Array): Promise<ParsedDocument> {
  if (bytes.length === 0) throw new UnreadableDocument('This file is empty.')
  const document = await parsers[format](bytes)
  if (document.text.length > limits.characters) throw tooMuchText()
  if (!/\S/.test(document.text)) throw new UnreadableDocument('This file holds no text.')
  return document
}
