import { termsOf } from '#models/text-analysis/text-analysis.ts'

export interface TermHashes {
  /** The hash of each term, in order. */
  hashes: Uint32Array
  /** The terms that contain a digit, in order. */
  numbers: string
}

/**
 * Hashes the terms that `termsOf` finds in a text. Most words are plain ASCII letters and digits, which are
 * hashed in place; only the rest between two spaces is analysed in full.
 */
export function hashTerms(text: string): TermHashes {
  const found: Found = { hashes: [], numbers: [] }
  for (let at = 0; at < text.length; ) {
    const { end, stretch } = hashPlain(text, at, found)
    at = end
    if (at === text.length) break
    at = endOfStretch(text, at)
    hashOthers(text.slice(stretch, at), found)
  }
  return { hashes: Uint32Array.from(found.hashes), numbers: found.numbers.join(' ') }
}

interface Found {
  hashes: number[]
  numbers: string[]
}

/** Hashes up to a character that it cannot handle, and leaves out the stretch of text around that. */
function hashPlain(text: string, from: number, { hashes, numbers }: Found): { end: number; stretch: number } {
  let [stretch, known, knownNumbers] = [from, hashes.length, numbers.length]
  // Digits have the lowest codes.
  let [first, hash, least] = [-1, begin, lastDigit + 1]
  let at = from
  for (; at <= text.length; at += 1) {
    const sign = signAt(text, at)
    if (sign > space) {
      if (first < 0) first = at
      hash = Math.imul(hash ^ sign, factor)
      least = Math.min(least, sign)
      continue
    }
    if (sign === foreign) break
    if (first >= 0) {
      hashes.push(mixed(hash))
      if (least <= lastDigit) numbers.push(text.slice(first, at).toLowerCase())
      first = -1
      hash = begin
      least = lastDigit + 1
    }
    if (sign === other) continue
    stretch = at + 1
    known = hashes.length
    knownNumbers = numbers.length
  }
  if (at > text.length) return { end: text.length, stretch }
  hashes.length = known
  numbers.length = knownNumbers
  return { end: at, stretch }
}

/** Returns the sign at a place; a space after the end. */
function signAt(text: string, at: number): number {
  const code = at < text.length ? text.charCodeAt(at) : 0x20
  return code < signs.length ? (signs[code] ?? 0) : foreign
}

/** Classes of ASCII characters: the lower case of a letter or digit, or one of these. */
const [other, foreign, space] = [0, 1, 2]
const lastDigit = 0x39
const signs = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code).toLowerCase()
  if (/[a-z0-9]/.test(character)) return character.charCodeAt(0)
  if (character === "'") return foreign
  return /\s/.test(character) ? space : other
})

function endOfStretch(text: string, from: number): number {
  let end = from
  while (end < text.length && signs[text.charCodeAt(end)] !== space) end += 1
  return end
}

function hashOthers(text: string, { hashes, numbers }: Found): void {
  for (const term of termsOf(text)) {
    hashes.push(hashOf(term))
    if (digit.test(term)) numbers.push(term)
  }
}

const digit = /\p{N}/u

const begin = 0x811c_9dc5 | 0
const factor = 0x0100_0193

export function hashOf(text: string): number {
  let hash = begin
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), factor)
  return mixed(hash)
}

/** Returns the hash of the terms in the range, without `to`. */
export function joined(hashes: Uint32Array, from: number, to: number): number {
  let hash = 0
  for (let index = from; index < to; index += 1) hash = Math.imul(hash, factor) ^ (hashes[index] ?? 0)
  return mixed(hash)
}

function mixed(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x85eb_ca6b) >>> 0
}
