import type { ParsedDocument } from '../parsed-document.ts'
import { documentOf } from '../parsed-document.ts'

/** Rows of a query, as JSON. */
export interface Rows {
  columns: string[]
  /** Texts, numbers, truth values, null, and bytes as `{base64}`. */
  rows: unknown[][]
}

/**
 * Each row as a paragraph with a line for each column, `name: value`, so that every passage shows by itself what its values
 * are; a query without rows is a document without text. Nulls and bytes are left out.
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

/** A blank line would end the row before its end. */
function oneParagraph(value: string): string {
  return value.replace(/\r\n?/g, '\n').replace(/\n[ \t]*(?=\n)/g, '')
}
