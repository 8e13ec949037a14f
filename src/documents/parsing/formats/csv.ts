import type { Options } from 'csv-parse/sync'
import { decodeText } from '../encoding/decode-text.ts'
import type { ParsedDocument, Piece } from '../parsed-document.ts'
import { documentOf, linesOf } from '../parsed-document.ts'

type Parse = (text: string, options: Options) => string[][]

/** Of those that part every record alike, the first: a comma is as often a part of a value. */
const delimiters = ['\t', ';', '|', ',']
/** Lines above a table: Excel's delimiter line, and titles with a blank line behind them; no value that goes on below. */
const preamble = /^(?:sep=.\n)?(?:(?:(?:"[^"\n]*"|[^"\t;|,\n][^\t;|,\n]*)\n)+\n+)?/i
const sampleCharacters = 64 * 1024
const sampleRecords = 20

const lenient: Options = { relax_quotes: true, relax_column_count: true, skip_empty_lines: true }

/**
 * The records as they stand in the file, so that they can be quoted; none is cut from itself at a quoted line break.
 * The names of the columns, if what stands above looks like them, are the section.
 */
export async function parseCsv(bytes: Uint8Array): Promise<ParsedDocument> {
  const { parse } = await import('csv-parse/sync')
  const text = decodeText(bytes)
  const sample = text.slice(0, sampleCharacters).replace(preamble, '')
  const tables = delimiters.map(delimiter => ({ delimiter, records: readSample(parse, sample, delimiter) }))
  const best = tables.reduce((one, other) => (columns(other.records) > columns(one.records) ? other : one))
  const section = headerOf(best.records)
  return documentOf(readRecords(parse, text, best.delimiter, section))
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
    // The sample ends in the middle of a record: those before it stand.
  }
  return records
}

/** Columns that every record has. */
function columns(records: string[][]): number {
  return records.length === 0 ? 0 : Math.min(...records.map(record => record.length))
}

/** Names are words or years, all different; what has a number, a date or an address is data. */
const word = /^[\p{L}_#$%(][^@:]{0,63}$/u
const year = /^(?:19|20)\d\d$/

/** The first record that fills more than one column, if it holds names. */
function headerOf(records: string[][]): string | undefined {
  const first = records.findIndex(record => record.filter(value => value.trim() !== '').length > 1)
  if (first === -1 || first === records.length - 1) return undefined
  const names = withoutEmptyEnds((records[first] ?? []).map(name => name.trim()))
  const areNames =
    names.some(name => word.test(name)) &&
    names.every(name => word.test(name) || year.test(name)) &&
    new Set(names).size === names.length
  return areNames ? names.join(', ') : undefined
}

/** Programs leave the first column of row numbers unnamed, and empty columns at the end. */
function withoutEmptyEnds(names: readonly string[]): readonly string[] {
  const last = names.findLastIndex(name => name !== '')
  return names.slice(names[0] === '' ? 1 : 0, last + 1)
}

function readRecords(parse: Parse, text: string, delimiter: string, section: string | undefined): Piece[] {
  const pieces: Piece[] = []
  try {
    parse(text, {
      ...lenient,
      delimiter,
      raw: true,
      on_record: (_record, { raw = '' }) => {
        pieces.push({ text: `${raw.replace(/^\n+|\n+$/g, '')}\n`, section })
        return null
      },
    })
    return pieces
  } catch {
    // Quotes that don't match: the file is still text, line by line.
    return Iterator.from(linesOf(text))
      .map(line => ({ text: line, section }))
      .toArray()
  }
}
