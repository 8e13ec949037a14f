/**
 * Combining marks in a row that are kept: more than any language writes, and as many as the Stream-Safe Text Format has
 * (Unicode Standard Annex 15).
 */
const maxMarks = 30
const excessMarks = new RegExp(`(\\p{M}{${maxMarks}})\\p{M}+`, 'gu')

/**
 * The text in a Unicode normalization form, without what exceeds `maxMarks`. The platform's own `normalize` sorts the
 * marks of a run in quadratic time and can't be interrupted, so that it must not be called elsewhere.
 */
export function normalizedText(text: string, form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD'): string {
  return text.replace(excessMarks, '$1').normalize(form)
}
