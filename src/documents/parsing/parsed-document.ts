import { limits } from './limits.ts'

/** A file as plain text, with the known place of each part. */
export interface ParsedDocument {
  /** The whole text in reading order, free of NUL and lone surrogates, with `\n` as the only line break. */
  text: string
  /** A partition of `text` in reading order. Their ends are good places to cut. */
  spans: Span[]
  /** Sentences for the person who uploaded the file about its unreadable parts; absent without any. */
  warnings?: readonly string[]
}

/** A part of the text; offsets in UTF-16 units, `end` exclusive. */
export interface Span {
  start: number
  end: number
  /** Page counted from 1; absent if the format has no pages. */
  page?: number
  /** Heading above the text. */
  section?: string
}

/** A piece that a parser finds, including white space before the next one. */
export interface Piece {
  text: string
  page?: number
  section?: string | undefined
}

/** Reads one format; throws `UnreadableDocument` for an unreadable file. */
export type Parser = (bytes: Uint8Array) => Promise<ParsedDocument>

/** Thrown for an unreadable file; the message is the reason, a sentence for the person who uploaded it. */
export class UnreadableDocument extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'UnreadableDocument'
  }
}

export function tooMuchText(): UnreadableDocument {
  const millions = limits.characters / 1_000_000
  return new UnreadableDocument(
    `This file holds more than ${millions} million characters of text. Split it up.`,
  )
}

const maxSectionLength = 200

/** Joins pieces into a document; empty ones leave no span. Too long sections are cut. */
export function documentOf(
  pieces: Iterable<Piece>,
  { sectionLength = maxSectionLength }: { sectionLength?: number } = {},
): ParsedDocument {
  const texts: string[] = []
  const spans: Span[] = []
  let start = 0
  for (const { text, page, section } of pieces) {
    if (text === '') continue
    const end = start + text.length
    const heading = section && storable(section).replace(/\s+/g, ' ').trim().slice(0, sectionLength)
    spans.push({
      start,
      end,
      ...(page === undefined ? {} : { page }),
      ...(heading ? { section: heading } : {}),
    })
    texts.push(text)
    start = end
  }
  return { text: storable(texts.join('')), spans }
}

/** Replaces control characters and half ones, which no database takes, by one unit each: offsets stay. */
function storable(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, ' ').toWellFormed()
}

/** Yields the lines of a text, each with its line break. */
export function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const lineBreak = text.indexOf('\n', start)
    const end = lineBreak === -1 ? text.length : lineBreak + 1
    yield text.slice(start, end)
    start = end
  }
}
