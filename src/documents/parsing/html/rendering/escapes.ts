/** Characters with a meaning in markdown. */
const anywhere = /[\\*`[\]_]/g
/** Characters with a meaning at a line's beginning: items, headings, underlines, fences, quotes, numbers. */
const atLineStart = /^(?:-|\+(?=\s|$)|=|#{1,6}(?=\s|$)|~~~|>|\d{1,9}(?=[.)](?:\s|$)))/

export function escaped(text: string, isLineStart: boolean): string {
  const inner = text.replace(anywhere, '\\$&')
  if (!isLineStart) return inner
  return inner.replace(atLineStart, found => (/^\d/.test(found) ? `${found}\\` : `\\${found}`))
}
