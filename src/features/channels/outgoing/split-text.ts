/** Both messengers take as many characters in one message. */
const maxLength = 4096

/** A long text as several messages, cut between paragraphs, else lines, else words, else anywhere but within a character. */
export function splitText(text: string): string[] {
  if (text.length <= maxLength) return [text]
  const { end, next } = firstBreak(text)
  return [text.slice(0, end), ...splitText(text.slice(next))]
}

function firstBreak(text: string): { end: number; next: number } {
  for (const separator of ['\n\n', '\n', ' ']) {
    const end = text.lastIndexOf(separator, maxLength)
    if (text.slice(0, Math.max(end, 0)).trim() !== '') return { end, next: end + separator.length }
  }
  const end = new Intl.Segmenter().segment(text).containing(maxLength)?.index || maxLength
  return { end, next: end }
}
