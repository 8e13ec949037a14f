import { StringDecoder } from 'node:string_decoder'
import { UnreadableAnswer } from './call-failure.ts'

/** Max length of a line, and of an event, in characters: an endless one must not fill the memory. */
export const maxCharacters = 4_000_000

/** Splits bytes that arrive in pieces, torn anywhere, into lines that end with LF, CR or both. */
export interface Lines {
  /** Throws UnreadableAnswer for an endless line. */
  read(piece: Uint8Array): void
  /** Takes the last line, without its end; to be called once the bytes have ended. */
  end(): void
}

export function createLines(take: (line: string) => void): Lines {
  const decoder = new StringDecoder('utf8')
  /** The pieces of the incomplete line: joined only once because a line can arrive in very many. */
  let pieces: string[] = []
  let characters = 0
  let hasBegun = false
  /** True if the last piece ended with CR, which an LF can complete. */
  let endedWithReturn = false

  /** Decodes a piece; a byte order mark can precede the first line. */
  function textOf(piece: Uint8Array): string {
    const text = decoder.write(piece)
    if (hasBegun || text === '') return text
    hasBegun = true
    return text.startsWith('\uFEFF') ? text.slice(1) : text
  }

  function keep(piece: string): void {
    if (piece !== '') pieces.push(piece)
    characters += piece.length
    if (characters > maxCharacters) throw new UnreadableAnswer('A line has no end.')
  }

  function endLine(piece: string): void {
    const line = pieces.length === 0 ? piece : pieces.join('') + piece
    pieces = []
    characters = 0
    take(line)
  }

  function takeText(text: string): void {
    let start = endedWithReturn && text.startsWith('\n') ? 1 : 0
    if (text !== '') endedWithReturn = text.endsWith('\r')
    const nextEnd = lineEnds(text)
    for (let end = nextEnd(start); end >= 0; end = nextEnd(start)) {
      endLine(text.slice(start, end))
      start = text.startsWith('\r\n', end) ? end + 2 : end + 1
    }
    keep(text.slice(start))
  }

  return {
    read: piece => takeText(textOf(piece)),
    end() {
      keep(decoder.end())
      if (pieces.length > 0) endLine('')
    },
  }
}

/** Returns a function that finds the next line end after a place, or -1. It searches the text only once. */
function lineEnds(text: string): (from: number) => number {
  let feed = text.indexOf('\n')
  let carriage = text.indexOf('\r')
  return from => {
    if (feed >= 0 && feed < from) feed = text.indexOf('\n', from)
    if (carriage >= 0 && carriage < from) carriage = text.indexOf('\r', from)
    return feed < 0 || carriage < 0 ? Math.max(feed, carriage) : Math.min(feed, carriage)
  }
}
