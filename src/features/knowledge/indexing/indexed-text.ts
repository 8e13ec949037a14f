import { spellingTerms } from '#models/text-analysis/spellings.ts'

/** Matches words in JSON directly after the escape of a line break or similar. */
const behindEscape = /\\[nrtbf]([\p{L}\p{N}]+)/gu

/** Matches the parts of a word that is hyphenated at the end of a line. */
const brokenWord = /(?<!\p{L})(\p{L}+)[-\u00ad\u2010]\n[ \t]*(\p{Ll}+)/gu

/**
 * Returns the text that finds a chunk. It adds to the shown text: the heading above it, words after escapes
 * (which otherwise seem to begin with another letter), words that are broken across lines, and codes, dates
 * and names in the form for all spellings.
 */
export function indexedText({ content, section }: { content: string; section: string | null }): string {
  const text = section === null ? content : `${section}\n${content}`
  const words = [...wordsBehindEscapes(content), ...wholeWords(content), ...spellingTerms(text)]
  return words.length === 0 ? text : `${text}\n${words.join(' ')}`
}

function wordsBehindEscapes(content: string): (string | undefined)[] {
  return content.includes('\\') ? Array.from(content.matchAll(behindEscape), ([, word]) => word) : []
}

function wholeWords(content: string): string[] {
  return Array.from(content.matchAll(brokenWord), ([, begin, end]) => `${begin}${end}`)
}
