import { decodeText } from '../encoding/decode-text.ts'
import { markdownPieces } from '../markdown-pieces.ts'
import { documentOf, type ParsedDocument } from '../parsed-document.ts'

/** Returns the source unchanged, including front matter; headings are sections. */
export async function parseMarkdown(bytes: Uint8Array): Promise<ParsedDocument> {
  return documentOf(markdownPieces(decodeText(bytes)))
}
