/**
 * Control and format characters, such as those that hide or turn text, and fillers and selectors, in whose rows a whole text
 * can be written. A line break, a tab and the two marks that tell emoji from text are no secret.
 */
const invisible = /(?!\n|\t|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu
/** Those of words and emoji that are written with joiners. */
const joiners = /\u200c|\u200d/g

/**
 * Text of a server as people see it. What they can't see, and a model can, is taken out: nobody agrees to what is hidden.
 */
export function visibleText(text: string): string {
  return text.toWellFormed().replaceAll(invisible, '')
}

/** Whether JSON, in which control characters are escaped, holds what can't be seen. */
export function hidesText(json: string): boolean {
  const text = json.replaceAll(joiners, '')
  return text !== visibleText(text)
}

/** Whether nothing in a name is hidden, and it has no line breaks. */
export function isVisibleName(name: string): boolean {
  return name.isWellFormed() && name === visibleText(name) && !/[\n\t]/.test(name)
}

/** The value with the descriptions and titles in it made visible; it must not be nested deeply. */
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
