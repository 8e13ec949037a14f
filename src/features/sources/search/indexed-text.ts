/** What a chunk is found by: the heading is found with the text below it, but is not part of what is shown. */
export function indexedText({ content, section }: { content: string; section: string | null }): string {
  return section === null ? content : `${section}\n${content}`
}
