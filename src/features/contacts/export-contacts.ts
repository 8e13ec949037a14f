import type { Kysely } from 'kysely'
import type { AgentTables } from '#storage/tables.ts'
import { defused } from './columns.ts'
import { type Contact, plainFields } from './contacts.schema.ts'
import { readInOrder } from './read-in-order.ts'

/** Exports all contacts as CSV that imports read without loss; its byte order mark is for Excel. */
export async function* exportCsv(database: Kysely<AgentTables>): AsyncGenerator<string> {
  yield `\ufeff${lineOf([...plainFields, 'tags', 'metadata'])}`
  for await (const contact of readInOrder(database)) yield lineOf(cellsOf(contact))
}

/** Exports all contacts as a JSON array. */
export async function* exportJson(database: Kysely<AgentTables>): AsyncGenerator<string> {
  let separator = '[\n'
  for await (const contact of readInOrder(database)) {
    yield separator + JSON.stringify(contact)
    separator = ',\n'
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n'
}

function cellsOf(contact: Contact): string[] {
  const { tags, metadata } = contact
  const isPlain = tags.every(tag => !/[,;[]| ::: |^\* myContacts$/.test(tag) && tag === tag.trim())
  return [
    ...plainFields.map(field => contact[field] ?? ''),
    isPlain ? tags.join(', ') : JSON.stringify(tags),
    Object.keys(metadata).length === 0 ? '' : JSON.stringify(metadata),
  ]
}

function lineOf(cells: readonly string[]): string {
  return `${cells.map(cell => quoted(defused(cell))).join(',')}\r\n`
}

function quoted(cell: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
