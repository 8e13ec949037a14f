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

/** Signs and letters that East Asian fonts hardly draw, but that stand at the places of their letters in other encodings. */
const foreign =
  /[\u0080-\u024f\u02c6-\u02dd\u2010-\u2024\u2026-\u203a\u2044\u20a0-\u20cf\u2100-\u2122\u2202-\u2265\ufb00-\ufb06]/gu
const eastAsian = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}]/gu
const maxForeign = 0.3
const [minForeign, minForeignKinds] = [10, 4]
/** Names of fonts for Chinese, Japanese and Korean, but not of those for Latin letters that are called Gothic, too. */
const eastAsianNames =
  /mincho|ryumin|heisei|koz(?:min|go)|hira(?:gino|min|kaku|maru)|meiryo|osaka|(?<!century|franklin|letter|news|trade|copperplate|bank)[ -]?gothic|cjk|source ?han|morisawa|midashi|futo(?:min|go)|shin(?:go|maru)|jun\d|takao|ipa(?:ex)?[mg]|sim(?:sun|hei)|(?:st|fang|nsim)?song|kaiti?|ming(?:liu)?|fzs|batang|dotum|gulim|gungsuh|malgun|myungjo|munhwa|-(?:90ms|83pv|78|euc|uni\w+|gbk?|ksc\w*|b5\w*)[\w-]*-[hv]$|[\u3040-\u9fff]/i

/** Texts by the fonts that draw them. */
function textsOf(items: readonly TextItem[]): { font: string; text: string }[] {
  const fonts = Map.groupBy(items, item => item.fontName)
  return [...fonts].map(([font, drawn]) => ({ font, text: drawn.map(({ str }) => str).join(' ') }))
}

/** Without the fonts that draw rubbish, how much they draw, and which they are. */
export function withoutRubbish(items: readonly TextItem[], nameOf: (font: string) => string) {
  const isLost = ({ font, text }: { font: string; text: string }) =>
    isRubbish(text) || (isForeign(text) && eastAsianNames.test(nameOf(font)))
  const rubbish = new Map(
    textsOf(items)
      .filter(isLost)
      .map(({ font, text }) => [font, text]),
  )
  return {
    legible: items.filter(item => !rubbish.has(item.fontName)),
    lost: rubbish.values().reduce((sum, text) => sum + lengthOf(text), 0),
    fonts: Array.from(rubbish.keys(), nameOf),
  }
}

/** Whether the names of the fonts decide on a text, or are to be reported. */
export function needsNames(items: readonly TextItem[]): boolean {
  return textsOf(items).some(({ text }) => isRubbish(text) || isForeign(text))
}

function isForeign(text: string): boolean {
  const strangers = text.match(foreign) ?? []
  const characters = count(text, /\S/gu)
  return (
    strangers.length >= Math.max(minForeign, characters * maxForeign) &&
    new Set(strangers).size >= minForeignKinds &&
    count(text, eastAsian) < characters * maxStrange
  )
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
