import { documentOf, type ParsedDocument } from '../parsed-document.ts'

/** Rows of a query, as JSON. */
export interface Rows {
  columns: string[]
  /** Texts, numbers, truth values, null, and bytes as `{base64}`. */
  rows: unknown[][]
}

/**
 * Returns each row as a paragraph with a line for each column, `name: value`, so that every passage explains
 * its own values; a query without rows is a document without text. Nulls and bytes are left out.
 */
export async function parseRows(bytes: Uint8Array): Promise<ParsedDocument> {
  const { columns, rows }: Rows = JSON.parse(new TextDecoder().decode(bytes))
  return documentOf(Iterator.from(rows).map(row => ({ text: paragraphOf(columns, row) })))
}

function paragraphOf(columns: readonly string[], row: readonly unknown[]): string {
  const lines = row.flatMap((value, index) => {
    if (value === null || typeof value === 'object') return []
    return `${columns[index]}: ${oneParagraph(String(value))}\n`
  })
  return lines.length === 0 ? '' : `${lines.join('')}\n`
}

/** Removes blank lines, which would end the row too early. */
function oneParagraph(value: string): string {
  return value.replace(/\r\n?/g, '\n').replace(/\n[ \t]*(?=\n)/g, '')
}
