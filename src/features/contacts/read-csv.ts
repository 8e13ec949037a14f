import type { FileHandle } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { invalid } from '#platform/errors.ts'
import { openTemporaryFile } from '#platform/temporary-file.ts'

export interface CsvRow {
  /** Where it begins in the file, from 1. */
  line: number
  cells: string[]
}

/** A file with commas, semicolons or tabs between the cells, in UTF-8, UTF-16 or Windows-1252. */
export interface CsvFile extends AsyncDisposable {
  /**
   * Empty lines are none.
   * @throws VALIDATION_ERROR for what is no CSV, with the line.
   */
  rows(): AsyncGenerator<CsvRow>
}

/** Bytes that are decoded and parsed at a time, so that nobody waits for it. */
const portionBytes = 32 * 1024
const maxRecordLength = 1024 * 1024

/** Keeps a file while it arrives: out of memory, and no longer than it is read. */
export async function storeCsv(content: AsyncIterable<Buffer>): Promise<CsvFile> {
  const file = await openTemporaryFile()
  try {
    const detect = createDetection()
    for await (const chunk of content) {
      detect.see(chunk)
      await file.writev([chunk])
    }
    const encoding = detect.encoding()
    return { rows: () => readCsv(file, encoding), [Symbol.asyncDispose]: () => file.close() }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function* readCsv(file: FileHandle, encoding: string): AsyncGenerator<CsvRow> {
  const { CsvError, parse } = await import('csv-parse')
  const bytes = file.createReadStream({ start: 0, autoClose: false, highWaterMark: portionBytes })
  const texts = decode(bytes, encoding)
  const { value: beginning = '' } = await texts.next()
  const parser = parse({
    delimiter: delimiterOf(beginning),
    info: true,
    max_record_size: maxRecordLength,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  })
  parser.write(beginning)
  // Whichever of the two ends first, also by a reader that has seen enough, ends the other: else its error would be nobody's.
  pipeline(Readable.from(texts), parser, () => {})
  let line = 1
  try {
    for await (const { record, info } of parser) {
      yield { line, cells: record }
      line = info.lines + 1
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw invalid('file', `is not a CSV file from line ${line} on: ${error.message}`)
  }
}

/** What has no mark of UTF-16 and is not UTF-8 is Windows-1252. */
function createDetection() {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let encoding: 'utf-8' | 'utf-16le' | 'windows-1252' | undefined
  const tryUtf8 = (chunk?: Buffer) => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      encoding = 'windows-1252'
    }
  }
  let isFirst = true
  return {
    see(chunk: Buffer): void {
      if (isFirst && chunk[0] === 0xff && chunk[1] === 0xfe) encoding = 'utf-16le'
      isFirst = false
      if (encoding === undefined) tryUtf8(chunk)
    },
    encoding(): string {
      if (encoding === undefined) tryUtf8()
      return encoding ?? 'utf-8'
    },
  }
}

/** Without a byte order mark. */
async function* decode(content: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  for await (const bytes of content) {
    const text = decoder.decode(bytes, { stream: true })
    if (text !== '') yield text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
}

/** The one that the first line with anything in it has most of, outside of quotes. */
function delimiterOf(text: string): string {
  const lines = text.replace(/"(?:[^"]|"")*"/g, 'x').split(/[\r\n]+/)
  const first = lines.find(line => line.trim() !== '') ?? ''
  const counts = [',', ';', '\t'].map(delimiter => ({ delimiter, count: first.split(delimiter).length }))
  return counts.reduce((one, other) => (other.count > one.count ? other : one)).delimiter
}
