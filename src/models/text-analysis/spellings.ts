/**
 * Codes, dates and names with a single letter ("KX-40", "31 March 2025", "hepatitis A"), which a split into
 * words would break up. Each has one form for all its spellings, in the index beside the words.
 */
import { isStopWord, plainText, termsOf } from './text-analysis.ts'

/** A part of a text that is found by its spelling. */
export interface Spelling {
  /** The written form, in lower case and with plain hyphens. */
  written: string
  /** The term in the index for all its spellings. */
  term: string
  kind: 'code' | 'date' | 'name'
}

/** Separates parts of a term, so that 2.1 is not 21; the index treats these characters as parts of words. */
const between = '\uebe0'
const symbols = new Map([
  ['+', '\uebe1'],
  ['#', '\uebe2'],
])
/** Max length of a term: longer codes are mostly addresses and rows of figures. */
const maxTermLength = 40
/** Min digits of a joined number: shorter ones would be mistaken for others. */
const minJoinedDigits = 5

/** Returns a text in lower case, without the marks that people leave out, and with one hyphen for all. */
export function spelled(text: string): string {
  return plainText(withPlainHyphens(text))
}

function withPlainHyphens(text: string): string {
  return text.replace(/[\u2010-\u2015\u2212\uff0d]/g, '-')
}

/** Returns a text's spellings. Codes without digits have a dot before, a sign after, or joined capitals. */
export function spellingsOf(text: string): Spelling[] {
  const whole = withPlainHyphens(text)
  const dates: Spelling[] = []
  const others = /\d/.test(whole)
    ? withoutDates(whole, (written, term) => dates.push({ written, term, kind: 'date' }))
    : whole
  return [...dates, ...codesOf(others), ...namesOf(others)]
}

/** Returns the terms of the index for a text's spellings, beside its words. */
export function spellingTerms(text: string): Set<string> {
  const terms = spellingsOf(text).filter(({ written, term }) => term !== written)
  return new Set(terms.map(({ term }) => term))
}

const code =
  /(?:(?<![\p{L}\p{N}.])\.(?=\p{L}))?[\p{L}\p{N}\p{M}]+(?:(?:[-/._+#&]|(?<=\d),(?=\d))[\p{L}\p{N}\p{M}]+)*(?:\+{1,2}(?!\+)|#)?(?![\p{L}\p{N}])/gu
const separators = /[-/.,_+#&]+/
const capitals = /^[^\p{Ll}]*\p{Lu}[^\p{Ll}]*$/u

function codesOf(text: string): Spelling[] {
  const found: Spelling[] = []
  for (const [match] of text.matchAll(code)) {
    const isJoint = separators.test(match)
    const isMixed = /\d/.test(match) && (isJoint || /\p{L}/u.test(match))
    if (!isMixed && !(isJoint && (/^\.|[+#]$/.test(match) || capitals.test(match)))) continue
    const written = spelled(match)
    const term = joinedForm(written)
    if (term.length <= maxTermLength) found.push({ written, term, kind: 'code' })
  }
  return found
}

function joinedForm(written: string): string {
  const parts = written.split(separators).filter(part => part !== '')
  const whole = parts.join('')
  const isShort = /^\d+$/.test(whole) && whole.length < minJoinedDigits
  const [sign = ''] = /[+#]*$/.exec(written) ?? []
  const begin = written.startsWith('.') ? between : ''
  return (
    begin + (isShort ? parts.join(between) : whole) + sign.replace(/[+#]/g, sign => symbols.get(sign) ?? '')
  )
}

const name = /(?<!\p{L})(\p{L}{2,})[\s-](\p{Lu})(?![\p{L}\p{N}'’+#])/gu

function namesOf(text: string): Spelling[] {
  return Array.from(text.matchAll(name), ([, word = '', letter = '']) => ({ word, letter }))
    .filter(({ word }) => !isStopWord(word.toLowerCase()))
    .map(({ word, letter }) => nameOf(word, letter))
}

/** Returns the spelling of a name. @param word the word before the letter. */
export function nameOf(word: string, letter: string): Spelling {
  const parts = [...termsOf(word), spelled(letter)]
  return { written: parts.join(' '), term: parts.join(between), kind: 'name' }
}

/** Names of months in the languages of the stop words, and some more, without marks and dots. */
const months = new Map<string, number>()
for (const language of ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl'])
  for (const month of ['long', 'short'] as const) {
    const format = new Intl.DateTimeFormat(language, { month, day: 'numeric', timeZone: 'UTC' })
    for (let number = 0; number < 12; number += 1) {
      const part = format.formatToParts(Date.UTC(2024, number, 1)).find(({ type }) => type === 'month')
      if (part !== undefined) months.set(spelled(part.value).replace('.', ''), number + 1)
    }
  }
const dateForms =
  /(?<![\p{L}\p{N}])(?:(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})日?|(\d{1,2})([-/.])\s?(\d{1,2})\5\s?(\d{4}|\d{2})|(\d{1,2})(?:(?:st|nd|rd|th|\.|er|º)[\s-]*|[\s-]+)(?:(?:of|de)\s+)?(\p{L}{3,12})\.?,?[\s-]+(?:del?\s+)?(\d{4})|(\p{L}{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4}))(?!(?!t\d)[\p{L}\p{N}]|[-/.]\d)/giu

/** Returns the text without its dates; `add` gets each as YYYYMMDD, twice if day and month are ambiguous. */
function withoutDates(text: string, add: (written: string, term: string) => void): string {
  return text.replace(dateForms, (written: string, ...groups: (string | undefined)[]) => {
    const [y1, m1, d1, one, , two, y2, d3, month3 = '', y3, month4 = '', d4, y4] = groups
    const year = y1 ?? y2 ?? y3 ?? y4 ?? ''
    const whole = year.length === 2 ? `${Number(year) < 70 ? '20' : '19'}${year}` : year
    const monthOf = (word: string) => months.get(spelled(word))
    const read: [number | undefined, number][] =
      one === undefined
        ? [[m1 === undefined ? monthOf(month3 || month4) : Number(m1), Number(d1 ?? d3 ?? d4)]]
        : [
            [Number(two), Number(one)],
            [Number(one), Number(two)],
          ]
    const terms = read.flatMap(([month = 0, day]) =>
      month >= 1 && month <= 12 && day >= 1 && day <= 31
        ? [`${whole}${String(month).padStart(2, '0')}${String(day).padStart(2, '0')}`]
        : [],
    )
    for (const term of new Set(terms)) add(spelled(written), term)
    return terms.length === 0 ? written : ' '
  })
}
