/** Bytes of a page as text. */
import { decodeText } from '../parsing/decode-text.ts'
import { UnreadableDocument } from '../parsing/parsed-document.ts'

const declaredInHtml = /<meta[^>]{0,200}?charset\s{0,10}=\s{0,10}["']?\s{0,10}([\w.:-]{1,40})/i
/** Where browsers, too, look for a declaration. */
const declaredWithin = 1_024

/** By the character set of its Content-Type, else by the one that it declares, else by evidence; undefined if it is no text. */
export function pageText(body: Uint8Array, contentType: string): string | undefined {
  const head = new TextDecoder('latin1').decode(body.subarray(0, declaredWithin))
  const label = /;\s*charset="?([^\s;"]+)/i.exec(contentType)?.[1] ?? declaredInHtml.exec(head)?.[1]
  const decoder = label === undefined ? undefined : decoderOf(label)
  if (decoder !== undefined) return decoder.decode(body)
  try {
    return decodeText(body)
  } catch (error) {
    if (error instanceof UnreadableDocument) return undefined
    throw error
  }
}

function decoderOf(label: string) {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}
