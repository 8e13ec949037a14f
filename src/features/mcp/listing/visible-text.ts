/**
 * Control and format characters, such as those that hide or reverse text, as well as fillers and variation selectors,
 * sequences of which can encode a whole text. A line break, a tab and the two selectors that distinguish emoji from
 * text are harmless.
 */
const invisible = /(?!\n|\t|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu
/** Joiners, within words and emoji that need them. */
const joiners = /\u200c|\u200d/g

/**
 * A server's text as people see it. Characters that are invisible to people but not to models are removed: no person can
 * approve what is hidden.
 */
export function visibleText(text: string): string {
  return text.toWellFormed().replaceAll(invisible, '')
}

/** Whether JSON, in which control characters are escaped, contains anything invisible. */
export function hidesText(json: string): boolean {
  const text = json.replaceAll(joiners, '')
  return text !== visibleText(text)
}

/** Whether a name contains nothing invisible and no line breaks. */
export function isVisibleName(name: string): boolean {
  return name.isWellFormed() && name === visibleText(name) && !/[\n\t]/.test(name)
}

/** The value with its descriptions and titles made visible; it must not be nested deeply. */
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
