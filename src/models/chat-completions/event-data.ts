import { StringDecoder } from 'node:string_decoder'
import { UnreadableAnswer } from './call-failure.ts'

/** Maximum length of an event in characters: a server that never ends its line must not fill the memory. */
const maxCharacters = 4_000_000

/** Takes the bytes of a stream of server-sent events as they arrive, split anywhere, and returns the data of its events. */
export interface EventData {
  /** The data of the events that this piece completes. Throws UnreadableAnswer for an endless event. */
  read(piece: Uint8Array): string[]
  /** The data of a last event without its blank line; to be called once the stream has ended. */
  end(): string[]
}

/** Comments and fields other than `data` are skipped; lines end with LF or CRLF. */
export function createEventData(): EventData {
  const decoder = new StringDecoder('utf8')
  /** The pieces of the incomplete line: joined only once, since a line may arrive in very many. */
  let pieces: string[] = []
  /** The data lines of the incomplete event, joined by LF. */
  let data: string | undefined
  /** Characters of those lines and of the pieces. */
  let characters = 0
  let hasBegun = false

  /** A byte order mark may precede the first line. */
  function textOf(piece: Uint8Array): string {
    const text = decoder.write(piece)
    if (hasBegun || text === '') return text
    hasBegun = true
    return text.startsWith('\uFEFF') ? text.slice(1) : text
  }

  function take(line: string, events: string[]): void {
    if (line === '') {
      if (data !== undefined) events.push(data)
      data = undefined
      characters = 0
    } else if (line.startsWith('data:')) {
      const value = line.slice(line[5] === ' ' ? 6 : 5)
      data = data === undefined ? value : `${data}\n${value}`
      characters += line.length
    }
  }

  /** The line that this text completes, without its line end. */
  function lineOf(text: string): string {
    const isTorn = pieces.length > 0
    const line = isTorn ? pieces.join('') + text : text
    if (isTorn) {
      characters -= line.length - text.length
      pieces = []
    }
    return line.endsWith('\r') ? line.slice(0, -1) : line
  }

  function takeLines(text: string): string[] {
    const events: string[] = []
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      take(lineOf(text.slice(start, end)), events)
      start = end + 1
    }
    if (start < text.length) pieces.push(text.slice(start))
    characters += text.length - start
    if (characters > maxCharacters) throw new UnreadableAnswer('An event has no end.')
    return events
  }

  return {
    read: piece => takeLines(textOf(piece)),
    end: () => takeLines(`${decoder.end()}\n\n`),
  }
}
