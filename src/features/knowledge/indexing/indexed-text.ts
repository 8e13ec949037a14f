import { spellingTerms } from '#models/text-analysis/spellings.ts'

/** Words in JSON that directly follow the escape of a line break or the like. */
const behindEscape = /\\[nrtbf]([\p{L}\p{N}]+)/gu

/** The parts of a word that is hyphenated at the end of a line. */
const brokenWord = /(?<!\p{L})(\p{L}+)[-\u00ad\u2010]\n[ \t]*(\p{Ll}+)/gu

/**
 * The text by which a chunk is found. In addition to what is shown: the heading above the text, words after escapes
 * (which otherwise seem to begin with a different letter), words that are broken across lines, and codes, dates and
 * names in the form that their spellings share.
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
