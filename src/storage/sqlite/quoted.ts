/** Quotes a string of FTS5's query language, or an SQL identifier: nothing in it is an operator. */
export function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
