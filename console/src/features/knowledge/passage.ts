import { plainLetters } from './locate.ts'
import type { DocumentText } from './requests.ts'

/** A passage as an answer names it. */
export interface Wanted {
  id?: string | undefined
  start?: number | undefined
  end?: number | undefined
  /** The passage's text, if the answer has it. */
  passage?: string | undefined
}

/**
 * Returns the place of a passage in its document's current text; undefined if the document was read again and
 * might have another text there.
 */
export function passageIn(
  { text, start: shownFrom, end: shownTo, passages }: DocumentText,
  { id, start, end, passage }: Wanted,
): { start: number; end: number } | undefined {
  if (start === undefined || end === undefined || end <= start) return undefined
  if (start < shownFrom || end > shownTo) return undefined
  const isSame =
    passage === undefined
      ? id === undefined || passages.some(one => one.id === id)
      : plainLetters(text.slice(start - shownFrom, end - shownFrom)) === plainLetters(passage)
  return isSame ? { start, end } : undefined
}
