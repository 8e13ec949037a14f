import { guessEncoding } from './guess-encoding.ts'
import { UnreadableDocument } from './parsed-document.ts'

/** How much of a file is looked at for signs that it is no text. */
const sampleBytes = 64 * 1024
/** Up to this share of zero bytes a file is text with a few accidents; compressed data has 1/256. */
const fewZeros = 0.001
/** Below this share of broken characters a file is UTF-8 with a few errors, not another encoding. */
const fewErrors = 0.05

/**
 * The text of a file in an unknown encoding, with `\n` as the only line break: by its byte order mark, else by evidence
 * UTF-16, UTF-8, or what was usual before in the language that it seems to be in.
 */
export function decodeText(bytes: Uint8Array): string {
  const encoding = markedEncoding(bytes) ?? unmarkedEncoding(bytes)
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
  return isMostlyUtf8(bytes) ? 'utf-8' : guessEncoding(bytes)
}

/** In UTF-16, Latin letters, digits and spaces have a zero byte, always on the same side; other text has next to none. */
function guessUtf16(sample: Uint8Array): string | undefined {
  const [even, odd] = [zerosIn(sample, 0), zerosIn(sample, 1)]
  if (even + odd <= sample.length * fewZeros) return undefined
  if (odd > sample.length / 10 && even <= odd / 20) return 'utf-16le'
  if (even > sample.length / 10 && odd <= even / 20) return 'utf-16be'
  throw new UnreadableDocument('This file is not text: it holds binary data.')
}

/** Zero bytes at every second place from `first` on. */
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
