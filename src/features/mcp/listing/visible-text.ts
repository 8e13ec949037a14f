/**
 * Matches control and format characters, such as those that hide or reverse text, as well as fillers and
 * variation selectors, sequences of which can encode a whole text. A line break, a tab and the two selectors
 * that distinguish emoji from text are harmless.
 */
const invisible = /(?!\n|\t|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu
/** Joiners, which some words and emoji need. */
const joiners = /\u200c|\u200d/g

/**
 * Returns a server's text in its visible form. Characters that only models see are removed: no person can
 * approve hidden text.
 */
export function visibleText(text: string): string {
  return text.toWellFormed().replaceAll(invisible, '')
}

/** True if JSON, in which control characters are escaped, contains invisible characters. */
export function hidesText(json: string): boolean {
  const text = json.replaceAll(joiners, '')
  return text !== visibleText(text)
}

/** True if a name contains no invisible characters and no line breaks. */
export function isVisibleName(name: string): boolean {
  return name.isWellFormed() && name === visibleText(name) && !/[\n\t]/.test(name)
}

/** Returns the value with visible descriptions and titles; it must not be nested deeply. */
export function withVisibleDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withVisibleDescriptions)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      typeof inner === 'string' && (name === 'description' || name === 'title')
        ? visibleText(inner)
        : withVisibleDescriptions(inner),
    ]),
  )
}
