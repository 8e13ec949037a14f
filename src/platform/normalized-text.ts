/**
 * Max combining marks in a row that are kept: more than any language writes, and as many as the Stream-Safe
 * Text Format has (Unicode Standard Annex 15).
 */
const maxMarks = 30
const excessMarks = new RegExp(`(\\p{M}{${maxMarks}})\\p{M}+`, 'gu')

/**
 * Returns the text in a Unicode normalization form, without marks beyond `maxMarks`. The platform's own
 * `normalize` sorts the marks of a run in quadratic time, uninterruptibly: it must not be called elsewhere.
 */
export function normalizedText(text: string, form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD'): string {
  return text.replace(excessMarks, '$1').normalize(form)
}

/** Returns the text with the decimal digits of all scripts as 0 to 9. */
export function withPlainDigits(text: string): string {
  return text.replace(/[^\P{Nd}0-9]/gu, digitOf)
}

/** Returns a digit's value by its place: decimal digits are in rows from 0 to 9, in each script. */
function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  let value = 0
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1
  return String(value)
}
