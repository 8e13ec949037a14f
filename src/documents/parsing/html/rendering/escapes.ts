/** Characters that markdown would take for its own. */
const anywhere = /[\\*`[\]_]/g
/** The same at the beginning of a line: items, headings, underlines, fences, quotes and numbers. */
const atLineStart = /^(?:-|\+(?=\s|$)|=|#{1,6}(?=\s|$)|~~~|>|\d{1,9}(?=[.)](?:\s|$)))/

export function escaped(text: string, isLineStart: boolean): string {
  const inner = text.replace(anywhere, '\\$&')
  if (!isLineStart) return inner
  return inner.replace(atLineStart, found => (/^\d/.test(found) ? `${found}\\` : `\\${found}`))
}
