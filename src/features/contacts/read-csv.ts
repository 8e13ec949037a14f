import { readSync } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import { invalid } from '#platform/errors.ts'
import { openTemporaryFile } from '#platform/temporary-file.ts'

export interface CsvRow {
  /** Line number of its beginning in the file, from 1. */
  line: number
  cells: string[]
}

/** A file with commas, semicolons or tabs between the cells, in UTF-8, UTF-16 or Windows-1252. */
export interface CsvFile {
  /** Its descriptor, which every thread of the process can read. */
  descriptor: number
  encoding: string
  bytes: number
}

/** Bytes that are decoded and parsed at a time. */
const portionBytes = 32 * 1024
const maxRecordLength = 1024 * 1024
const maxColumns = 500

/** Stores a file while it arrives: on disk, and only until it is read. */
export async function storeCsv(content: AsyncIterable<Buffer>): Promise<CsvFile & AsyncDisposable> {
  const file = await openTemporaryFile()
  try {
    const detect = createDetection()
    let bytes = 0
    for await (const chunk of content) {
      detect.see(chunk)
      bytes += chunk.length
      await file.writev([chunk])
    }
    return {
      descriptor: file.fd,
      encoding: detect.encoding(),
      bytes,
      [Symbol.asyncDispose]: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/**
 * Yields rows without empty lines.
 * @throws VALIDATION_ERROR for a file that is no CSV, or has too long a row, with the line.
 */
export async function* readCsv({ descriptor, encoding }: CsvFile): AsyncGenerator<CsvRow> {
  const { CsvError, parse } = await import('csv-parse')
  const texts = decode(bytesOf(descriptor), encoding)
  const { value: beginning = '' } = texts.next()
  // The first line of Excel's files can name their delimiter.
  const [named, separator] = /^\s*"?sep=([^\r\n])"?[,;\t]*(?:\r\n?|\n)/i.exec(beginning) ?? []
  const parser = parse({
    delimiter: separator ?? delimiterOf(beginning),
    info: true,
    max_record_size: maxRecordLength,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  })
  parser.write(beginning.slice(named?.length ?? 0))
  // The first of the two to end, also by a reader that stops early, ends the other without an error.
  pipeline(Readable.from(texts), parser, () => {})
  const linesBefore = named?.trim() ? 1 : 0
  let line = 1 + linesBefore
  try {
    for await (const { record, info } of parser) {
      if (record.length > maxColumns)
        throw invalid('file', `has ${record.length} columns in line ${line}; at most ${maxColumns} are read`)
      yield { line, cells: record }
      line = info.lines + 1 + linesBefore
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    if (error.code === 'CSV_MAX_RECORD_SIZE')
      throw invalid('file', `has more than 1 MiB in the row that begins in line ${line}`)
    throw invalid('file', `is not a CSV file from line ${line} on: ${error.message}`)
  }
}

/** Max bytes from which UTF-16 is recognised. */
const beginningBytes = 64

/** Without a mark, text with zeros in every other byte is UTF-16; otherwise UTF-8 or Windows-1252. */
function createDetection() {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isUtf8 = true
  let beginning = Buffer.alloc(0)
  const tryUtf8 = (chunk?: Buffer) => {
    try {
      if (isUtf8) decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      isUtf8 = false
    }
  }
  return {
    see(chunk: Buffer): void {
      if (beginning.length < beginningBytes)
        beginning = Buffer.concat([beginning, chunk.subarray(0, beginningBytes - beginning.length)])
      tryUtf8(chunk)
    },
    encoding(): string {
      tryUtf8()
      return utf16Of(beginning) ?? (isUtf8 ? 'utf-8' : 'windows-1252')
    },
  }
}

function utf16Of(beginning: Buffer): string | undefined {
  if (beginning.length < 2) return undefined
  const mark = beginning.readUInt16BE()
  if (mark === 0xfffe) return 'utf-16le'
  if (mark === 0xfeff) return 'utf-16be'
  const zeros = [0, 1].map(from => beginning.filter((byte, at) => byte === 0 && at % 2 === from).length)
  const [even = 0, odd = 0] = zeros
  if (Math.max(even, odd) < beginning.length / 4) return undefined
  return even > odd ? 'utf-16be' : 'utf-16le'
}

/** A stream would close the file, which belongs to another thread. */
function* bytesOf(descriptor: number): Generator<Buffer, undefined> {
  const portion = Buffer.alloc(portionBytes)
  for (let position = 0; ; ) {
    const length = readSync(descriptor, portion, 0, portionBytes, position)
    if (length === 0) return
    position += length
    yield portion.subarray(0, length)
  }
}

/** Decodes texts without a byte order mark. */
function* decode(content: Iterable<Buffer>, encoding: string): Generator<string, undefined> {
  const decoder = new TextDecoder(encoding)
  for (const bytes of content) {
    const text = decoder.decode(bytes, { stream: true })
    if (text !== '') yield text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
}

/** Returns the most frequent delimiter in the first line with content, outside of quotes. */
function delimiterOf(text: string): string {
  const lines = text.replace(/"(?:[^"]|"")*"/g, 'x').split(/[\r\n]+/)
  const first = lines.find(line => line.trim() !== '') ?? ''
  const counts = [',', ';', '\t'].map(delimiter => ({ delimiter, count: first.split(delimiter).length }))
  return counts.reduce((one, other) => (other.count > one.count ? other : one)).delimiter
}
