/** A string of FTS5's query language: nothing in it is an operator. */
export function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}
