/** Decodes the bytes of a page. */
import { decodeText } from '../encoding/decode-text.ts'
import { UnreadableDocument } from '../parsed-document.ts'

const declaredInMeta = /<meta[^>]{0,200}?charset\s{0,10}=\s{0,10}["']?\s{0,10}([\w.:-]{1,40})/i
const declaredInXml = /^\s{0,100}<\?xml[^>]{0,200}?encoding\s{0,10}=\s{0,10}["']([\w.:-]{1,40})/i
/** Bytes in which browsers look for a declaration, too. */
const declaredWithin = 1_024

/**
 * Decodes by the byte order mark, else the character set of the Content-Type, else the page's declaration,
 * else by evidence: the order of the Encoding and HTML standards. Returns undefined if it is not text.
 */
export function pageText(body: Uint8Array, contentType: string): string | undefined {
  const decoder = markedDecoder(body) ?? declaredDecoder(body, contentType)
  if (decoder !== undefined) return decoder.decode(body)
  try {
    return decodeText(body)
  } catch (error) {
    if (error instanceof UnreadableDocument) return undefined
    throw error
  }
}

function markedDecoder([first, second, third]: Uint8Array) {
  if (first === 0xef && second === 0xbb && third === 0xbf) return new TextDecoder('utf-8')
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le')
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be')
  return undefined
}

function declaredDecoder(body: Uint8Array, contentType: string) {
  const label = /;\s*charset=["']?([^\s;,"']+)/i.exec(contentType)?.[1]
  const head = new TextDecoder('latin1').decode(body.subarray(0, declaredWithin))
  const declared = declaredInXml.exec(head)?.[1] ?? declaredInMeta.exec(head)?.[1]
  // A declaration that can be read byte by byte is not in UTF-16.
  const own = /^utf-?16/i.test(declared ?? '') ? 'utf-8' : declared
  return decoderOf(label) ?? decoderOf(own)
}

function decoderOf(label: string | undefined) {
  if (label === undefined) return undefined
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}
