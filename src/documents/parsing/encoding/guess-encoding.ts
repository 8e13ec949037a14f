/** The encoding of text that is neither UTF-8 nor UTF-16, by what it would say in each. */

import { guessLatin } from './guess-latin.ts'

/** How much of a text is looked at, from its first character beyond ASCII on. */
const sampleBytes = 64 * 1024
/** Share of broken characters that a text may have. */
const fewErrors = 0.05

interface Candidate {
  encoding: string
  /** How much of a text in it is as one would expect, 0 to 1. */
  likeness(sample: Uint8Array): number
  /** What it needs to be chosen. */
  least: number
}

/** Japanese is known by its syllables, since its Chinese characters are those of others, too. */
const kana = /[\u3041-\u30fc]/g
const hangul = /[\u3000-\u303f\uac00-\ud7a3]/g
/** Its letters, vowels and tones that are used most: nearly any bytes are some Thai. */
const thai = /[กงดตทนมยรลวสอาเัี่้]/g
const russian = 'оеаинтсрвлкм'

/** The second byte of a character may be an ASCII letter here, so that such bytes stand alone. */
const shiftJis: Candidate = likeCharacters('shift_jis', kana, 0.2)

/** Groups from which the best one is chosen, in the order in which they are asked. */
const candidates: readonly (readonly Candidate[])[] = [
  [
    likeWords('windows-1251', russian),
    likeWords('koi8-r', russian),
    likeWords('windows-1253', 'αοιετσνηυρ'),
    likeWords('windows-1255', 'יוהלארתבמש'),
    likeWords('windows-1256', 'اليمنوترهب'),
  ],
  [likeCharacters('euc-kr', hangul, 0.9)],
  [likeCharacters('euc-jp', kana, 0.2)],
  [likeCharacters('windows-874', thai, 0.6)],
  // The first bytes of the characters that are used most.
  [likePairs('gb18030', 0xb0, 0xd7), likePairs('big5', 0xa4, 0xc6)],
]

/** One of Latin letters where nothing speaks for another one. */
export function guessEncoding(bytes: Uint8Array): string {
  const start = firstBeyondAscii(bytes)
  const sample = bytes.subarray(start, start + sampleBytes)
  if (shiftJis.likeness(sample) >= shiftJis.least) return shiftJis.encoding
  const groups = isLatin(sample) ? [] : candidates
  for (const group of groups) {
    const [best] = group
      .map(({ encoding, likeness, least }) => ({ encoding, least, share: likeness(sample) }))
      .toSorted((one, other) => other.share - one.share)
    if (best !== undefined && best.share >= best.least) return best.encoding
  }
  return guessLatin(sample)
}

/** As a loop, since a call for each byte of a large file would take seconds. */
function firstBeyondAscii(bytes: Uint8Array): number {
  let index = 0
  while (index < bytes.length && !isBeyondAscii(bytes[index] ?? 0)) index++
  return index
}

/**
 * Accents and special letters stand alone or in twos; characters of other scripts together. One and the same again and
 * again is no word, but a rule or a leader.
 */
function isLatin(sample: Uint8Array): boolean {
  let [all, together, run] = [0, 0, 0]
  for (const [index, byte] of sample.entries()) {
    if (byte === sample[index - 1]) continue
    run = isBeyondAscii(byte) ? run + 1 : 0
    if (run > 0) all++
    if (run === 3) together += 3
    else if (run > 3) together++
  }
  return together < all * 0.6
}

/** Upper and lower case as words have them, or letters of a script without cases. */
const words = /(?<![\p{L}\p{M}])(?:\p{Lu}?\p{Ll}+|\p{Lu}+|\p{Lo}+)(?![\p{L}\p{M}])/gu

/** By the letters that words in one byte a letter mostly consist of. */
function likeWords(encoding: string, usual: string): Candidate {
  const letters = new RegExp(`[${usual}]`, 'g')
  return {
    encoding,
    likeness(sample) {
      const text = decode(sample, encoding)
      const inWords = (text.match(words) ?? []).join(' ').toLowerCase()
      return count(inWords, letters) / count(text, beyondAscii)
    },
    least: 0.4,
  }
}

/** By the share of certain characters. */
function likeCharacters(encoding: string, expected: RegExp, least: number): Candidate {
  return {
    encoding,
    likeness(sample) {
      const text = decode(sample, encoding)
      return isBroken(text) ? 0 : count(text, expected) / count(text, beyondAscii)
    },
    least,
  }
}

/** By the share of characters whose first byte is in this range, or is that of punctuation. */
function likePairs(encoding: string, first: number, last: number): Candidate {
  return {
    encoding,
    likeness(sample) {
      if (isBroken(decode(sample, encoding))) return 0
      let [pairs, usual] = [0, 0]
      for (let index = 0; index < sample.length; index++) {
        const byte = sample[index] ?? 0
        if (!isBeyondAscii(byte)) continue
        pairs++
        index++
        if ((byte >= first && byte <= last) || (byte >= 0xa1 && byte <= 0xa3)) usual++
      }
      return usual / pairs
    },
    least: 0.5,
  }
}

const beyondAscii = /[^\0-\x7f]/g

function isBeyondAscii(byte: number): boolean {
  return byte > 0x7f
}

/** A character that the sample's end has cut is left out. */
function decode(sample: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding).decode(sample, { stream: true })
}

function isBroken(text: string): boolean {
  return count(text, /\ufffd/g) > count(text, beyondAscii) * fewErrors
}

function count(text: string, characters: RegExp): number {
  return text.match(characters)?.length ?? 0
}
