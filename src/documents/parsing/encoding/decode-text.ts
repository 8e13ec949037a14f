import { UnreadableDocument } from '../parsed-document.ts'
import { guessEncoding } from './guess-encoding.ts'

/** Bytes of a file that are checked for signs that it is no text. */
const sampleBytes = 64 * 1024
/** Max share of zero bytes of a text with a few accidents; compressed data has 1/256. */
const fewZeros = 0.001
/** Share of broken characters below which a file is UTF-8 with a few errors, not another encoding. */
const fewErrors = 0.05

/**
 * Returns the text of a file in an unknown encoding, with `\n` as the only line break: by its byte order
 * mark, else by evidence UTF-16, UTF-8, or the former usual encoding of its apparent language.
 */
export function decodeText(bytes: Uint8Array): string {
  const encoding = markedEncoding(bytes) ?? unmarkedEncoding(bytes)
  if (!isText(bytes.subarray(0, sampleBytes), encoding)) throw notText()
  return new TextDecoder(encoding).decode(bytes).replace(/\r\n?/g, '\n')
}

function markedEncoding(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return undefined
}

function unmarkedEncoding(bytes: Uint8Array): string {
  const wide = guessUtf16(bytes.subarray(0, sampleBytes))
  if (wide !== undefined) return wide
  const encoding = isMostlyUtf8(bytes) ? 'utf-8' : guessEncoding(bytes)
  if (encoding !== undefined) return encoding
  throw new UnreadableDocument(
    'The encoding of this file cannot be told. Save it as UTF-8 and upload it again.',
  )
}

/**
 * Recognises UTF-16: Latin letters, digits and spaces have a zero byte, always on the same side, and any text
 * has spaces; other encodings have next to none.
 */
function guessUtf16(sample: Uint8Array): string | undefined {
  const [even, odd] = [zerosIn(sample, 0), zerosIn(sample, 1)]
  if (even + odd <= sample.length * fewZeros) return undefined
  const encoding = odd > even ? 'utf-16le' : 'utf-16be'
  const isOnOneSide = Math.min(even, odd) <= Math.max(even, odd) / 20
  if (isOnOneSide && even + odd > sample.length / 100 && isText(sample, encoding)) return encoding
  throw notText()
}

function notText(): UnreadableDocument {
  return new UnreadableDocument('This file is not text: it holds binary data.')
}

/** Returns true for text: numbers in two bytes, for example, would include many control characters. */
function isText(sample: Uint8Array, encoding: string): boolean {
  const text = new TextDecoder(encoding).decode(sample)
  const others = text.match(/[\p{Cn}\p{Co}\ufffd]|(?![\t\n\f\r])\p{Cc}/gu)?.length ?? 0
  return others <= Math.max(1, text.length * fewErrors)
}

/** Counts zero bytes at every second place from `first` on. */
function zerosIn(sample: Uint8Array, first: number): number {
  let zeros = 0
  for (let index = first; index < sample.length; index += 2) if (sample[index] === 0) zeros++
  return zeros
}

function isMostlyUtf8(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes)
  let beyondAscii = 0
  let broken = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7f) beyondAscii++
    if (unit === 0xfffd) broken++
  }
  return broken <= beyondAscii * fewErrors
}
