/** A string of FTS5's query language, or a name of SQL: nothing in it is an operator. */
export function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}
