/** Guesses the encoding of text that is neither UTF-8 nor UTF-16, by its meaning in each. */

import { guessEastAsian } from './guess-east-asian.ts'
import { guessLatin, western } from './guess-latin.ts'
import { beyondAscii, count, decodeSample, isBroken } from './sample.ts'

/** Bytes of a text that are checked, from its first character beyond ASCII on. */
const sampleBytes = 64 * 1024

/** By the most frequent letters of words with one byte a letter; the min share of these beyond ASCII. */
const russian = 'оеаинтсрвлкм'
const usualLetters = {
  'windows-1251': russian,
  'koi8-r': russian,
  'windows-1253': 'αοιετσνηυρ',
  'windows-1255': 'יוהלארתבמש',
  'windows-1256': 'اليمنوترهب',
}
const minLetters = 0.4
/** Min letters for a decision. */
const minInWords = 4
/** Share of characters beyond ASCII that are typical of a script. */
const mostly = 0.6
/** The most used letters, vowels and tones of Thai, and their min share: nearly any bytes are some Thai. */
const thai = /[กงดตทนมยรลวสอาเัี่้]/g
const minThai = 0.6

/** Returns undefined if undecided. */
export function guessEncoding(bytes: Uint8Array): string | undefined {
  const start = firstBeyondAscii(bytes)
  const sample = bytes.subarray(start, start + sampleBytes)
  const [eastAsian, byLetters] = [guessEastAsian(sample), guessByLetters(sample)]
  if (eastAsian !== undefined) return byLetters === undefined ? eastAsian : undefined
  const letters = count(decodeSample(sample, western), /[a-z]/gi)
  const { all, inTwos, inThrees } = runsIn(sample)
  if (inThrees < all * mostly && (inTwos < all * mostly || all <= letters * 3)) return guessLatin(sample)
  if (byLetters !== undefined) return byLetters
  const text = decodeSample(sample, 'windows-874')
  const isThai = !isBroken(text) && count(text, thai) >= count(text, beyondAscii) * minThai
  if (isThai) return 'windows-874'
  return all <= letters ? guessLatin(sample) : undefined
}

function guessByLetters(sample: Uint8Array): string | undefined {
  const [best] = Object.entries(usualLetters)
    .map(([encoding, letters]) => ({
      encoding,
      share: shareInWords(decodeSample(sample, encoding), letters),
    }))
    .toSorted((one, other) => other.share - one.share)
  return best !== undefined && best.share >= minLetters ? best.encoding : undefined
}

/** A loop, because a call for each byte of a large file would take seconds. */
function firstBeyondAscii(bytes: Uint8Array): number {
  let index = 0
  while (index < bytes.length && !isBeyondAscii(bytes[index] ?? 0)) index++
  return index
}

/**
 * Counts adjacent characters beyond ASCII: accents and special letters are single or in twos, those of other
 * scripts are not. Repetitions of one are no word, but a rule or a leader.
 */
function runsIn(sample: Uint8Array): { all: number; inTwos: number; inThrees: number } {
  let [all, inTwos, inThrees, run] = [0, 0, 0, 0]
  for (const [index, byte] of sample.entries()) {
    if (byte === sample[index - 1]) continue
    run = isBeyondAscii(byte) ? run + 1 : 0
    if (run > 0) all++
    if (run > 1) inTwos += run === 2 ? 2 : 1
    if (run > 2) inThrees += run === 3 ? 3 : 1
  }
  return { all, inTwos, inThrees }
}

/** Words in upper and lower case, or in letters of a script without cases. */
const words = /(?<![\p{L}\p{M}])(?:\p{Lu}?\p{Ll}{2,}|\p{Lu}{4,}|\p{Lo}{2,})(?![\p{L}\p{M}])/gu

function shareInWords(text: string, letters: string): number {
  const inWords = (text.match(words) ?? []).join(' ').toLowerCase()
  if (inWords.length < minInWords) return 0
  return count(inWords, new RegExp(`[${letters}]`, 'g')) / count(text, beyondAscii)
}

function isBeyondAscii(byte: number): boolean {
  return byte > 0x7f
}
