/** Words that JSON has right behind the escape of a line break or the like. */
const behindEscape = /\\[nrtbf]([\p{L}\p{N}]+)/gu

/**
 * What a chunk is found by. Besides what is shown: the heading above the text, and the words behind escapes, which begin with
 * another letter as they are written.
 */
export function indexedText({ content, section }: { content: string; section: string | null }): string {
  const text = section === null ? content : `${section}\n${content}`
  const words = content.includes('\\') ? Array.from(content.matchAll(behindEscape), ([, word]) => word) : []
  return words.length === 0 ? text : `${text}\n${words.join(' ')}`
}
