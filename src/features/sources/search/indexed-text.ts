/** Words that JSON has right behind the escape of a line break or the like. */
const behindEscape = /\\[nrtbf]([\p{L}\p{N}]+)/gu

/** The parts of a word that goes on in the next line, by a hyphen or a place for one. */
const brokenWord = /(?<!\p{L})(\p{L}+)[-\u00ad\u2010]\n[ \t]*(\p{Ll}+)/gu

/**
 * What a chunk is found by. Besides what is shown: the heading above the text, the words behind escapes, which begin with
 * another letter as they are written, and words that a line's end has torn.
 */
export function indexedText({ content, section }: { content: string; section: string | null }): string {
  const text = section === null ? content : `${section}\n${content}`
  const words = [...wordsBehindEscapes(content), ...wholeWords(content)]
  return words.length === 0 ? text : `${text}\n${words.join(' ')}`
}

function wordsBehindEscapes(content: string): (string | undefined)[] {
  return content.includes('\\') ? Array.from(content.matchAll(behindEscape), ([, word]) => word) : []
}

function wholeWords(content: string): string[] {
  return Array.from(content.matchAll(brokenWord), ([, begin, end]) => `${begin}${end}`)
}
