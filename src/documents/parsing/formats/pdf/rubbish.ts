/** Text of fonts that name their letters wrongly, or not at all. */
import { normalizedText } from '#platform/normalized-text.ts'
import type { TextItem } from './reading-order/runs.ts'

/** Characters that are no letter: private use, unassigned, replacements, and controls. */
const strange = /[\p{Co}\p{Cn}\ufffd]|(?![\t\n\f\r])\p{Cc}/gu
/** Share of such characters beyond a few, which may be ornaments or bullets. */
const maxStrange = 0.1
const fewStrange = 5
/** Words of letters, as all languages have them; abbreviations are shorter. */
const words = /(?<![\p{L}\p{M}\p{N}])\p{sc=Latin}{5,}(?![\p{L}\p{M}\p{N}])/gu
const vowels = /[aeiouyæœøı]/g
/** No language has so few vowels; fewer letters decide nothing. */
const minVowels = 0.22
const minLetters = 150

/** Without the fonts that draw rubbish, and how much they draw. */
export function withoutRubbish(items: readonly TextItem[]): { legible: TextItem[]; lost: number } {
  const fonts = Map.groupBy(items, item => item.fontName)
  const texts = [...fonts].map(([font, drawn]) => ({ font, text: drawn.map(({ str }) => str).join(' ') }))
  const rubbish = new Map(texts.filter(({ text }) => isRubbish(text)).map(({ font, text }) => [font, text]))
  return {
    legible: items.filter(item => !rubbish.has(item.fontName)),
    lost: rubbish.values().reduce((sum, text) => sum + lengthOf(text), 0),
  }
}

function isRubbish(text: string): boolean {
  const characters = count(text, /\S/gu)
  const strangers = count(text, strange)
  if (strangers > characters / 2 || strangers > characters * maxStrange + fewStrange) return true
  const inWords = (text.match(words) ?? []).join('').toLowerCase()
  const letters = normalizedText(inWords, 'NFD').replace(/\p{M}/gu, '')
  return letters.length > minLetters && count(letters, vowels) < letters.length * minVowels
}

/** How many characters, of which one and the same again and again is a leader, and counts once. */
export function lengthOf(text: string): number {
  return count(text, /(\S)(?!\1)/gu)
}

function count(text: string, characters: RegExp): number {
  return text.match(characters)?.length ?? 0
}
