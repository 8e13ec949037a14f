/** Both messengers take as many characters in one message. */
const maxLength = 4096

/** A long text as several messages, cut between paragraphs, else lines, else words, else anywhere but within a character. */
export function splitText(text: string): string[] {
  const whole = text.trim()
  if (whole.length <= maxLength) return [whole]
  const breaks = ['\n\n', '\n', ' '].map(separator => whole.lastIndexOf(separator, maxLength))
  const character = new Intl.Segmenter().segment(whole).containing(maxLength)
  const end = breaks.find(at => at > 0) ?? (character?.index || maxLength)
  return [whole.slice(0, end).trimEnd(), ...splitText(whole.slice(end))]
}
