import { termsOf } from '#models/text-analysis.ts'

export interface TermHashes {
  /** Of each term, in order. */
  hashes: Uint32Array
  /** The terms that hold a digit, in order. */
  numbers: string
}

/**
 * What `termsOf` takes a text for, as hashes. Most words are plain letters and digits of ASCII, which are hashed where
 * they stand; only what else stands between two spaces is taken apart at length.
 */
export function hashTerms(text: string): TermHashes {
  const hashes: number[] = []
  const numbers: string[] = []
  let [stretch, known, knownNumbers] = [0, 0, 0]
  let [first, hash] = [-1, begin]
  let hasDigit = false
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0x20
    const sign = code < signs.length ? (signs[code] ?? 0) : foreign
    if (sign > space) {
      if (first < 0) first = at
      hash = Math.imul(hash ^ sign, factor)
      if (sign <= lastDigit) hasDigit = true
      continue
    }
    if (sign === foreign) {
      // What stands in the same stretch before it belongs to it.
      hashes.length = known
      numbers.length = knownNumbers
      at = endOfStretch(text, at)
      hashOthers(text.slice(stretch, at), hashes, numbers)
    } else if (first >= 0) {
      hashes.push(mixed(hash))
      if (hasDigit) numbers.push(text.slice(first, at).toLowerCase())
    }
    first = -1
    hash = begin
    hasDigit = false
    if (sign === other) continue
    stretch = at + 1
    known = hashes.length
    knownNumbers = numbers.length
  }
  return { hashes: Uint32Array.from(hashes), numbers: numbers.join(' ') }
}

/** What a character of ASCII is: the lower case of a letter or digit, or one of these. */
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

function hashOthers(text: string, hashes: number[], numbers: string[]): void {
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

/** Of the terms in a row from `from` to before `to`. */
export function joined(hashes: Uint32Array, from: number, to: number): number {
  let hash = 0
  for (let index = from; index < to; index += 1) hash = Math.imul(hash, factor) ^ (hashes[index] ?? 0)
  return mixed(hash)
}

function mixed(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x85eb_ca6b) >>> 0
}
