/** Reads files of contacts in a thread of the worker pool; the other side is `import-contacts.ts`. */
import { writeSync } from 'node:fs'
import type { MessagePort } from 'node:worker_threads'
import { invalid } from '#platform/errors.ts'
import { problemOf } from '#platform/schema-check.ts'
import { peopleNamedBy } from '#storage/tables/contact-identity.ts'
import { type Column, columnsOf, contactIn, isKnown } from './columns.ts'
import { type ImportReport, listedErrors, type NewContact, newContactSchema } from './contacts.schema.ts'
import { nameOf, type Row, withUnread } from './plan-import.ts'
import { type CsvFile, type CsvRow, readCsv } from './read-csv.ts'
import { tidied } from './tidy-contact.ts'

/** Max rows, and characters of JSON, that are stored in one transaction. */
const portion = { rows: 50, characters: 100_000 }
/** Max bytes of the target: `times` the input, or `least`, because each row repeats column names. */
const grownBytes = { least: 64 * 1024 * 1024, times: 10 }

export interface ReadTask {
  file: CsvFile
  /** Descriptor of the file for the rows. */
  target: number
  /** Names of the columns, for a file without a header. */
  columns: string | undefined
  /** The country of the contacts' national numbers, ISO 3166 alpha-2. */
  country: string | undefined
  /** Closes when the files are no longer used. */
  lifeline: MessagePort
}

export interface ReadRows {
  /** Bytes of each batch in the target: `Row[]` as JSON. */
  portions: number[]
  /** Number of other rows. */
  skipped: number
  /** The first `listedErrors` reasons. */
  errors: ImportReport['errors']
}

/** @throws VALIDATION_ERROR for an unreadable file or unknown columns. */
export async function readRows(task: ReadTask): Promise<ReadRows> {
  try {
    return await read(task)
  } finally {
    task.lifeline.close()
  }
}

async function read({ file, target, columns, country }: ReadTask): Promise<ReadRows> {
  const found: ReadRows = { portions: [], skipped: 0, errors: [] }
  const limit = Math.max(grownBytes.least, file.bytes * grownBytes.times)
  const check = createRowCheck()
  let written = 0
  let texts: string[] = []
  let characters = 0
  const write = () => {
    const bytes = writeSync(target, `[${texts.join(',')}]`)
    found.portions.push(bytes)
    written += bytes
    if (written > limit)
      throw invalid('file', 'has too many cells under long column names; shorten these, or split the file up')
    texts = []
    characters = 0
  }
  for await (const row of contactsIn(readCsv(file), columns)) {
    const { fields } = await tidied(row.fields, country)
    const problem = check(fields, row.unread)
    if (problem !== undefined) {
      found.skipped += 1
      if (found.skipped <= listedErrors) found.errors.push({ line: row.line, ...problem })
      continue
    }
    const text = JSON.stringify({ ...row, fields })
    texts.push(text)
    characters += text.length
    if (texts.length === portion.rows || characters > portion.characters) write()
  }
  if (texts.length > 0) write()
  return found
}

/** The first row that is not blank names the columns, unless `names` does. */
async function* contactsIn(rows: AsyncIterable<CsvRow>, names: string | undefined): AsyncGenerator<Row> {
  let columns = names === undefined ? undefined : knownColumns(names.split(','), 'columns')
  for await (const { line, cells } of rows) {
    if (columns !== undefined) yield { line, ...contactIn(columns, cells) }
    else if (cells.some(cell => cell.trim() !== '')) columns = knownColumns(cells, 'file')
  }
}

function knownColumns(headers: readonly string[], field: string): Column[] {
  const columns = columnsOf(headers)
  if (isKnown(columns)) return columns
  const shown = columns
    .map(({ header }) => header)
    .join(', ')
    .slice(0, 300)
  throw invalid(
    field,
    `no column has a known name, such as name, email or phone: ${shown}. Send a field "columns" that names those of a file without a header.`,
  )
}

/** Returns a function that returns the problem of a row after those before it. */
function createRowCheck() {
  const seen = new Set<string>()
  return (
    fields: Partial<NewContact>,
    unread: string | undefined,
  ): { field: string; issue: string } | undefined => {
    const name = nameOf(fields)
    if (name === '')
      return { field: 'name', issue: `is missing, and so is every identifier${unread ? `: ${unread}` : ''}` }
    const problem = problemOf(newContactSchema, { ...withUnread(fields, unread), name })
    if (problem !== undefined) return { field: problem.field, issue: problem.issue }
    const people = peopleNamedBy(fields)
    const repeated = people.find(person => seen.has(person))
    if (repeated !== undefined)
      return { field: repeated.split(' ', 1).join(), issue: 'stands in an earlier row of the file' }
    for (const person of people) seen.add(person)
    return undefined
  }
}
