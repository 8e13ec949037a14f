import type { Options } from 'csv-parse/sync'
import { decodeText } from '../encoding/decode-text.ts'
import { documentOf, linesOf, type ParsedDocument, type Piece } from '../parsed-document.ts'
import { columnNames } from './column-names.ts'

type Parse = (text: string, options: Options) => string[][]

/** Delimiters by priority among those that separate all records alike: a comma is often a part of a value. */
const delimiters = ['\t', ';', '|', ',']
/** Lines above a table: Excel's delimiter line, and titles before a blank line; no value continues below. */
const preamble = /^(?:sep=.\n)?(?:(?:(?:"[^"\n]*"|[^"\t;|,\n][^\t;|,\n]*)\n)+\n+)?/i
const sampleCharacters = 64 * 1024
const sampleRecords = 20

const lenient: Options = { relax_quotes: true, relax_column_count: true, skip_empty_lines: true }

/**
 * Returns the records of the file unchanged, so that they can be quoted; quoted line breaks cut none. The
 * names of the columns, if the table has them, are the section.
 */
export async function parseCsv(bytes: Uint8Array): Promise<ParsedDocument> {
  const { parse } = await import('csv-parse/sync')
  const text = decodeText(bytes)
  const sample = text.slice(0, sampleCharacters).replace(preamble, '')
  const tables = delimiters.map(delimiter => ({ delimiter, records: readSample(parse, sample, delimiter) }))
  const best = tables.reduce((one, other) => (columns(other.records) > columns(one.records) ? other : one))
  const names = columnNames(best.records)
  return documentOf(readRecords(parse, text, best.delimiter, names), {
    sectionLength: longNames + 2 * longLabel,
  })
}

function readSample(parse: Parse, sample: string, delimiter: string): string[][] {
  const records: string[][] = []
  try {
    parse(sample, {
      ...lenient,
      delimiter,
      to: sampleRecords,
      on_record: record => {
        records.push(record)
        return null
      },
    })
  } catch {
    // The sample ends within a record: those before it count.
  }
  return records
}

/** Returns the number of columns of every record. */
function columns(records: string[][]): number {
  return records.length === 0 ? 0 : Math.min(...records.map(record => record.length))
}

/** The form of records with `raw`. */
interface RawRecord {
  record: string[]
  /** The record in the file, with its line break. */
  raw: string
}

/** Max characters of a record in one passage; longer ones are cut between their values. */
const longRecord = 400
/** Max characters of all names: longer ones are repeated only for the columns of each part. */
const longNames = 4_000
const longLabel = 100

function readRecords(parse: Parse, text: string, delimiter: string, names: string[] | undefined): Piece[] {
  const section = names && sectionOf(names)
  const records: RawRecord[] = []
  try {
    parse(text, {
      ...lenient,
      delimiter,
      raw: true,
      on_record: (entry: unknown) => {
        records.push(entry as RawRecord)
        return null
      },
    })
  } catch {
    // Quotes don't match: the file is still text, line by line.
    return Iterator.from(linesOf(text))
      .map(line => ({ text: line, section: section?.slice(0, longNames) }))
      .toArray()
  }
  return records.flatMap(({ record, raw }) => {
    const source = `${raw.replace(/^\n+|\n+$/g, '')}\n`
    const isShort = source.length < longRecord && (section?.length ?? 0) <= longNames
    return isShort ? { text: source, section } : partsOf(source, record, delimiter, names ?? [])
  })
}

/** Cuts a record between its values. Each part after the first repeats the first value, by which the record is known. */
function partsOf(
  source: string,
  record: readonly string[],
  delimiter: string,
  names: readonly string[],
): Piece[] {
  const value = record.map(one => one.trim()).find(one => one !== '') ?? ''
  const label = value.replace(/\s+/g, ' ').slice(0, longLabel)
  const all = sectionOf(names)
  const cells = cellsOf(source, delimiter)
  const pieces: Piece[] = []
  for (let from = 0; from < cells.length; ) {
    const to = partEnd(cells, from, all.length > longNames ? names : [])
    const text = cells.slice(from, to).join('')
    const section = all.length > longNames ? sectionOf(names.slice(from, to)) : all
    const line = from === 0 ? text : `${label} … ${text}`
    pieces.push({
      text: line.endsWith('\n') ? line : `${line}\n`,
      // A value longer than a passage has the label beside all of its parts.
      section: text.length > longRecord ? `${label}: ${section}` : section,
    })
    from = to
  }
  return pieces
}

/** Returns the end of a part that begins with the cell `from`; `names` must not grow too long beside it. */
function partEnd(cells: readonly string[], from: number, names: readonly string[]): number {
  let [to, length, ofNames] = [from, 0, 0]
  do {
    length += cells[to]?.length ?? 0
    ofNames += (names[to]?.length ?? 0) + 2
    to++
  } while (to < cells.length && length + (cells[to]?.length ?? 0) < longRecord && ofNames < longNames)
  return to
}

function sectionOf(names: readonly string[]): string {
  return names.filter(name => name !== '').join(', ')
}

/** Returns the cells of a record in the file, with the delimiters behind them. */
function cellsOf(source: string, delimiter: string): string[] {
  const cells: string[] = []
  for (let start = 0; start < source.length; ) {
    let end = start
    if (source[start] === '"') {
      end = source.indexOf('"', start + 1)
      while (end !== -1 && source[end + 1] === '"') end = source.indexOf('"', end + 2)
    }
    const next = end === -1 ? -1 : source.indexOf(delimiter, end)
    cells.push(source.slice(start, next === -1 ? source.length : next + 1))
    start = next === -1 ? source.length : next + 1
  }
  return cells
}
