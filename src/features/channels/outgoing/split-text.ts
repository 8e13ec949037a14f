/** Max characters of a message on both messengers. */
const maxLength = 4096

/** Splits a long text between paragraphs, else lines, else words, else characters. */
export function splitText(text: string): string[] {
  const whole = text.trim()
  if (whole.length <= maxLength) return [whole]
  const breaks = ['\n\n', '\n', ' '].map(separator => whole.lastIndexOf(separator, maxLength))
  const character = new Intl.Segmenter().segment(whole).containing(maxLength)
  const end = breaks.find(at => at > 0) ?? (character?.index || maxLength)
  return [whole.slice(0, end).trimEnd(), ...splitText(whole.slice(end))]
}
