import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { invalid } from '#platform/errors.ts'

export interface CsvRow {
  /** Where it begins in the file, from 1. */
  line: number
  cells: string[]
}

/** Bytes that are decoded and parsed at a time, so that nobody waits for it. */
const portionBytes = 32 * 1024
const maxRecordLength = 1024 * 1024

interface Read {
  record: string[]
  info: { lines: number }
}

/**
 * The rows of a file with commas, semicolons or tabs between the cells, in UTF-8, UTF-16 or Windows-1252. Empty lines are none.
 * @throws VALIDATION_ERROR for a file that is no CSV, with the line.
 */
export async function* readCsv(content: Buffer): AsyncGenerator<CsvRow> {
  const { CsvError, parse } = await import('csv-parse')
  const encoding = encodingOf(content)
  const parser = parse({
    delimiter: delimiterOf(new TextDecoder(encoding).decode(content.subarray(0, portionBytes))),
    info: true,
    max_record_size: maxRecordLength,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  })
  let line = 1
  try {
    for await (const { record, info } of Readable.from(decode(content, encoding)).pipe(parser)) {
      const { cells, end } = rowOf({ record, info })
      yield { line, cells }
      line = end + 1
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw invalid('file', `is not a CSV file from line ${line} on: ${error.message}`)
  }
}

function rowOf({ record, info }: Read): { cells: string[]; end: number } {
  return { cells: record, end: info.lines }
}

function encodingOf(content: Buffer): string {
  if (content[0] === 0xff && content[1] === 0xfe) return 'utf-16le'
  return isUtf8(content) ? 'utf-8' : 'windows-1252'
}

/** Without a byte order mark. */
function* decode(content: Buffer, encoding: string): Generator<string> {
  const decoder = new TextDecoder(encoding)
  for (let start = 0; start < content.length; start += portionBytes) {
    const text = decoder.decode(content.subarray(start, start + portionBytes), { stream: true })
    if (text !== '') yield text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
}

/** The one that the first line has most of, outside of quotes. */
function delimiterOf(text: string): string {
  const [line = ''] = text.replace(/"(?:[^"]|"")*"/g, '').split(/[\r\n]/, 1)
  const counts = [',', ';', '\t'].map(delimiter => ({ delimiter, count: line.split(delimiter).length }))
  return counts.reduce((one, other) => (other.count > one.count ? other : one)).delimiter
}
