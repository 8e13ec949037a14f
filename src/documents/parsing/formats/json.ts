import { decodeText } from '../encoding/decode-text.ts'
import { limits } from '../limits.ts'
import {
  documentOf,
  linesOf,
  type ParsedDocument,
  tooMuchText,
  UnreadableDocument,
} from '../parsed-document.ts'

/** Mean length of a line above which a document was written for machines and gets line breaks. */
const longLine = 200
/** Characters of a line after which it ends at the next bracket, brace or comma. */
const lineWidth = 80

/** The byte before each value of a sequence (RFC 7464). */
const recordSeparator = 0x1e
const blank = 0x20

/**
 * Returns JSON, JSON Lines or several values as the source, so that it can be quoted, except for escaped
 * letters; every line break is a place to cut.
 */
export async function parseJson(bytes: Uint8Array): Promise<ParsedDocument> {
  const source = decodeText(
    bytes.includes(recordSeparator) ? bytes.map(byte => (byte === recordSeparator ? blank : byte)) : bytes,
  )
  if (source.length > limits.characters) throw tooMuchText()
  assertModest(source)
  assertJson(source)
  return documentOf(piecesOf(source))
}

function piecesOf(source: string) {
  return Iterator.from(readableLines(source)).map(line => ({ text: unescaped(line) }))
}

/** Escapes in a string, with the four digits of one unit; any other pair is skipped. */
const escaped = /\\(?:u([\da-f]{4})|.)/gi

/** Decodes letters: many programs escape all beyond ASCII, and search would not find the words. */
function unescaped(line: string): string {
  if (!line.includes('\\u')) return line
  return line.replace(escaped, (whole, digits: string | undefined) => {
    if (digits === undefined) return whole
    const meant = String.fromCharCode(Number.parseInt(digits, 16))
    // Without quotes and backslashes the end of a string cannot be found.
    if (meant === '"' || meant === '\\') return `\\${meant}`
    return /\p{Cc}/u.test(meant) ? whole : meant
  })
}

function readableLines(source: string): Iterable<string> {
  let lines = 1
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) lines++
  return source.length / lines > longLine ? brokenLines(source) : linesOf(source)
}

/** Breaks lines without indentation, which would grow with the square of the depth. */
function brokenLines(source: string): string[] {
  const lines: string[] = []
  let start = 0
  eachMark(source, (mark, at) => {
    const end = mark === '}' || mark === ']' ? at : at + 1
    if (end - start < lineWidth) return
    lines.push(`${source.slice(start, end)}\n`)
    start = end
  })
  return [...lines, source.slice(start)]
}

/**
 * Limits depth and values: the language's parser can't be stopped, and each value and level takes many times
 * the memory of its source. So both are counted before.
 */
function assertModest(source: string): void {
  let depth = 0
  let marks = 0
  eachMark(source, mark => {
    marks++
    if (mark === '{' || mark === '[') depth++
    if (mark === '}' || mark === ']') depth--
    if (depth > limits.jsonDepth) {
      throw new UnreadableDocument(`This JSON file is nested more than ${limits.jsonDepth} levels deep.`)
    }
    if (marks > limits.jsonMarks) {
      throw new UnreadableDocument(
        'This JSON file holds too many values for a document to be read. Split it up.',
      )
    }
  })
}

function assertJson(written: string): void {
  if (problemOf(written) === undefined) return
  const source = inPlainNumbers(written)
  const problem = problemOf(source)
  if (problem === undefined) return
  const broken = brokenLine(source)
  if (broken === undefined || areValues(source)) return
  // If the first line is a value by itself, the file is meant to be JSON Lines.
  throw broken.isFirst
    ? new UnreadableDocument(`This file is not valid JSON: ${problem}.`)
    : new UnreadableDocument(`Line ${broken.number} of this file is not valid JSON: ${broken.problem}.`)
}

function problemOf(json: string): string | undefined {
  try {
    JSON.parse(json)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Numbers that JSON has no form for, as Python, R and others write them. */
const otherNumbers = /[+-]?\b(?:NaN|Inf(?:inity)?)\b/gi

/** Returns the source with zeros for numbers that JSON does not know; offsets stay. */
function inPlainNumbers(source: string): string {
  if (source.search(otherNumbers) === -1) return source
  let plain = ''
  let start = 0
  for (let at = source.indexOf('"'); at !== -1; at = source.indexOf('"', start)) {
    const end = stringEnd(source, at) + 1
    plain += replaced(source.slice(start, at)) + source.slice(at, end)
    start = end
  }
  return plain + replaced(source.slice(start))
}

function replaced(outside: string): string {
  return outside.replace(otherNumbers, number => `0${' '.repeat(number.length - 1)}`)
}

/** Returns true if the source is a sequence of objects and arrays, each over any number of lines. */
function areValues(source: string): boolean {
  let depth = 0
  let start = 0
  let isWhole = true
  eachMark(source, (mark, at) => {
    if (mark === '{' || mark === '[') depth++
    if (mark !== '}' && mark !== ']') return
    depth--
    if (depth !== 0 || !isWhole) return
    isWhole = problemOf(source.slice(start, at + 1)) === undefined
    start = at + 1
  })
  return isWhole && start > 0 && source.slice(start).trim() === ''
}

/** Returns the first line neither blank nor JSON by itself; `isFirst` if only blank lines are above. */
function brokenLine(source: string): { number: number; isFirst: boolean; problem: string } | undefined {
  let number = 0
  let isFirst = true
  for (const line of linesOf(source)) {
    number++
    if (line.trim() === '') continue
    const problem = problemOf(line.trimEnd())
    // The parser's own count of lines begins with this one.
    if (problem !== undefined) return { number, isFirst, problem: problem.replace(/ \(line 1 .*\)$/, '') }
    isFirst = false
  }
  return undefined
}

/** Calls `visit` with each bracket, brace and comma outside of strings. */
function eachMark(source: string, visit: (mark: string, at: number) => void): void {
  for (let at = 0; at < source.length; at++) {
    const mark = source.charAt(at)
    if (mark === '"') at = stringEnd(source, at)
    else if ('{}[],'.includes(mark)) visit(mark, at)
  }
}

/** Returns the offset of the quote that closes a string, or of the source's end. */
function stringEnd(source: string, quote: number): number {
  for (let at = quote + 1; at < source.length; at++) {
    const unit = source.charAt(at)
    if (unit === '"') return at
    if (unit === '\\') at++
  }
  return source.length
}
