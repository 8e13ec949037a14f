import { decodeText } from '../encoding/decode-text.ts'
import { documentOf, type ParsedDocument } from '../parsed-document.ts'

export async function parseText(bytes: Uint8Array): Promise<ParsedDocument> {
  return documentOf([{ text: decodeText(bytes) }])
}
