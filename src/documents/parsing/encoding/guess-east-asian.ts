/** Guesses the encoding of a Chinese, Japanese or Korean text by the words that it would hold in each. */

import { beyondAscii, count, decodeSample, isBroken } from './sample.ts'

/** Characters that make no word but indicate an encoding: Japanese syllables, and frequent Korean ones. */
const kana = /[\u3041-\u30fc]/g
const usualHangul =
  /[이다는에의가을고하지로기사도은한를어서리정인대자시수스일아나해여부보전주장상제그라과구들원으게동만있것오세비었국니조안당무소연관선계경중트년할신저면드우공물화번호회용성진금교명업행]/g
const nothing = /(?!)/g
/** Words of at least two characters that the segmenter finds, which knows no Korean. */
const han = /^\p{sc=Han}{2,}$/u
const encodings = {
  shift_jis: { words: han, letters: kana },
  'euc-jp': { words: han, letters: kana },
  gb18030: { words: han, letters: nothing },
  big5: { words: han, letters: nothing },
  'euc-kr': { words: nothing, letters: usualHangul },
}

/** Bytes of a text that are checked. */
const sampleBytes = 8 * 1024
/** Min share of an encoding's characters in words, and its min lead over the second best. */
const minWords = 0.3
const minLead = 2

/** The segmenter knows words of Chinese, simplified or not, and Japanese: other characters are single. */
const segmenter = new Intl.Segmenter('ja', { granularity: 'word' })

/** Returns undefined if no encoding is clearly the likeliest. */
export function guessEastAsian(bytes: Uint8Array): string | undefined {
  const sample = bytes.subarray(0, sampleBytes)
  const [best, second] = Object.entries(encodings)
    .map(([encoding, { words, letters }]) => ({
      encoding,
      share: shareOf(words, letters, decodeSample(sample, encoding)),
    }))
    .toSorted((one, other) => other.share - one.share)
  if (best === undefined || best.share < minWords) return undefined
  return best.share >= (second?.share ?? 0) * minLead ? best.encoding : undefined
}

function shareOf(words: RegExp, letters: RegExp, text: string): number {
  if (isBroken(text)) return 0
  let known = 0
  for (const { segment } of segmenter.segment(text)) {
    known += segment.match(words) ? segment.length : count(segment, letters)
  }
  return known / Math.max(1, count(text, beyondAscii))
}
