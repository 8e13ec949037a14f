/** Text of a document in a form that databases and models accept. */

/** Text of one or more lines without control characters, lone surrogates and surrounding white space, cut to a length. */
export function cleanText(text: string, longest: number): string {
  const kept = text
    // Cut roughly first: the next steps take time for each character.
    .slice(0, longest * 2)
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
    .trim()
  return kept.length <= longest
    ? kept
    : `${kept
        .slice(0, longest - 1)
        .toWellFormed()
        .replace(/\uFFFD$/, '')}…`
}

/** Cleans names and other single-line text. */
export function cleanLine(text: string, longest: number): string {
  return cleanText(text.slice(0, longest * 2).replace(/\s+/g, ' '), longest)
}

/** True if a name can be sent and stored as it is. */
export function isCleanName(name: string): boolean {
  return name !== '' && name.isWellFormed() && !/\p{Cc}/u.test(name)
}
