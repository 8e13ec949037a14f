/** Recognises text of fonts that name their letters wrongly, or not at all. */
import { normalizedText } from '#platform/normalized-text.ts'
import type { TextItem } from './reading-order/runs.ts'

/** Characters that are no letter: private use, unassigned, replacements, and controls. */
const strange = /[\p{Co}\p{Cn}\ufffd]|(?![\t\n\f\r])\p{Cc}/gu
/** Max share of such characters beyond a few, which can be ornaments or bullets. */
const maxStrange = 0.1
const fewStrange = 5
/** Words of letters; abbreviations are shorter. */
const words = /(?<![\p{L}\p{M}\p{N}])\p{sc=Latin}{5,}(?![\p{L}\p{M}\p{N}])/gu
const vowels = /[aeiouyæœøı]/g
/** Min share of vowels in a language, and min letters for a decision. */
const minVowels = 0.22
const minLetters = 150

/** The limits for single letters, of fonts that do not name them. */
const [fewLetters, fewVowels, sampleLength] = [4, 0.28, 500]
/** Letters that few languages have more than a few of. */
const rare = /[\u0180-\u036f]/g
/** Numbers of signs that other programs write instead of letters. */
const glyphNumbers = /\(cid:\d+\)|\/[A-Za-z]{1,3}\d{1,5}(?!\w)/g

/** Signs that East Asian fonts hardly draw, but that other encodings have in the places of their letters. */
const foreign =
  /[\u0080-\u024f\u02c6-\u02dd\u2010-\u2024\u2026-\u203a\u2044\u20a0-\u20cf\u2100-\u2122\u2202-\u2265\ufb00-\ufb06]/gu
const eastAsian = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}]/gu
const maxForeign = 0.3
const [minForeign, minForeignKinds] = [10, 4]
/** Names of fonts for Chinese, Japanese and Korean, except Latin ones that are also called Gothic. */
const eastAsianNames =
  /mincho|ryumin|heisei|koz(?:min|go)|hira(?:gino|min|kaku|maru)|meiryo|osaka|(?<!century|franklin|letter|news|trade|copperplate|bank)[ -]?gothic|cjk|source ?han|morisawa|midashi|futo(?:min|go)|shin(?:go|maru)|jun\d|takao|ipa(?:ex)?[mg]|sim(?:sun|hei)|(?:st|fang|nsim)?song|kaiti?|ming(?:liu)?|fzs|batang|dotum|gulim|gungsuh|malgun|myungjo|munhwa|-(?:90ms|83pv|78|euc|uni\w+|gbk?|ksc\w*|b5\w*)[\w-]*-[hv]$|[\u3040-\u9fff]/i

/** Returns texts by their fonts. */
function textsOf(items: readonly TextItem[]): { font: string; text: string }[] {
  const fonts = Map.groupBy(items, item => item.fontName)
  return [...fonts].map(([font, drawn]) => ({ font, text: drawn.map(({ str }) => str).join(' ') }))
}

/** A font of pdf.js, of which some facts can be absent. */
export interface Font {
  name?: string
  vertical?: boolean
  fontMatrix?: readonly number[]
  composite?: boolean
  /** A range instead of a map if the codes themselves are taken for Unicode. */
  toUnicode?: object
  /** Names of signs by their codes. */
  differences?: readonly string[] | Map<number, string>
}

/**
 * Returns items without fonts of rubbish, the number of characters of these, and their names.
 * @param fontsOf reads the fonts that have those names; called if they decide, or are to be reported
 */
export async function withoutRubbish(
  items: readonly TextItem[],
  fontsOf: (names: string[]) => Promise<(fontName: string) => Font>,
) {
  const doubtful = textsOf(items)
    .map(drawn => ({ ...drawn, doubt: doubtOf(drawn.text) }))
    .filter(({ doubt }) => doubt !== undefined)
  if (doubtful.length === 0) return { legible: items, lost: 0, fonts: [] }
  const fontOf = await fontsOf(doubtful.map(({ font }) => font))
  const rubbish = doubtful.filter(({ font, doubt }) => {
    const isNamedForeign = doubt === 'foreign' && eastAsianNames.test(nameOf(fontOf(font)))
    return doubt === 'rubbish' || isNamedForeign || numbersSigns(fontOf(font))
  })
  const names = new Set(rubbish.map(({ font }) => font))
  return {
    legible: items.filter(item => !names.has(item.fontName)),
    lost: rubbish.reduce((sum, { text }) => sum + lengthOf(text), 0),
    fonts: Array.from(names, font => nameOf(fontOf(font))),
  }
}

function doubtOf(text: string): 'rubbish' | 'foreign' | 'short' | undefined {
  if (isRubbish(text)) return 'rubbish'
  if (isForeign(text)) return 'foreign'
  return isDoubtful(text.slice(0, sampleLength)) ? 'short' : undefined
}

/** Returns the name in the PDF, without the mark of a subset. */
function nameOf({ name = 'a font without a name' }: Font): string {
  return name.replace(/^[A-Z]{6}\+/, '').slice(0, 100)
}

/** Returns true if a font only numbers its signs, so that nothing identifies their letters. */
function numbersSigns({ composite = false, toUnicode = {}, differences = [] }: Font): boolean {
  if (composite) return 'firstChar' in toUnicode
  const names = [...differences.entries()].filter(([, name]) => name && !/^(?:\.notdef|space)$/.test(name))
  const numbers = names.filter(([code, name]) => {
    const number = /^(?:[A-Za-z]{1,2}|cid|gid|glyph|index)[.:_]?(\d+)$/.exec(name)?.[1]
    return number !== undefined && Number(number) !== code && Number.parseInt(number, 16) !== code
  })
  return numbers.length * 2 > names.length
}

/** Returns true if a text looks like no language, but is short, or could be names and codes. */
function isDoubtful(text: string): boolean {
  const characters = text.match(/\S/gu) ?? []
  const { share, length } = vowelsIn(text.match(/\p{sc=Latin}/gu) ?? [])
  return (
    (text.match(strange) ?? []).length > 0 ||
    (length >= fewLetters && share < fewVowels) ||
    (new Set(characters).size >= fewLetters && count(text, /\p{L}/gu) < characters.length / 2) ||
    count(text, rare) > characters.length * maxForeign
  )
}

function vowelsIn(letters: readonly string[]): { share: number; length: number } {
  const plain = normalizedText(letters.join('').toLowerCase(), 'NFD').replace(/\p{M}/gu, '')
  return { share: count(plain, vowels) / plain.length, length: plain.length }
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
  if ((text.match(glyphNumbers) ?? []).join('').length > characters / 2) return true
  const { share, length } = vowelsIn(text.match(words) ?? [])
  return length > minLetters && share < minVowels
}

/** Counts characters; repetitions of one are a leader, and count once. */
export function lengthOf(text: string): number {
  return count(text, /(\S)(?!\1)/gu)
}

function count(text: string, characters: RegExp): number {
  return text.match(characters)?.length ?? 0
}
