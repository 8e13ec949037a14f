interface Part {
  text: string
  section: string | undefined
}

/** Max characters of a title that are compared. */
const comparedLength = 80

/**
 * Cuts the text of a page at its headings of the outline, in their order. A heading that isn't found as a
 * line begins with the page if it is the first one, and is left out otherwise.
 */
export function cutAtHeadings(text: string, inherited: string | undefined, titles: string[]): Part[] {
  const parts: Part[] = []
  let section = inherited
  let start = 0
  for (const title of titles) {
    const found = findLine(text, title, start)
    if (found === undefined && parts.length > 0) continue
    parts.push({ text: text.slice(start, found ?? 0), section })
    start = found ?? 0
    section = title
  }
  return [...parts, { text: text.slice(start), section }]
}

/** Returns the offset of a line that begins with the title, possibly after a number, with any white space. */
function findLine(text: string, title: string, from: number): number | undefined {
  const letters = [...title.replace(/\s+/g, '').slice(0, comparedLength)].map(letter => RegExp.escape(letter))
  if (letters.length === 0) return undefined
  const line = new RegExp(`^[\\d. \\t]{0,20}${letters.join('\\s*')}`, 'mu')
  const found = line.exec(text.slice(from))
  return found === null ? undefined : from + found.index
}
