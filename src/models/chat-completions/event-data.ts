import { UnreadableAnswer } from './call-failure.ts'
import { createLines, maxCharacters } from './lines.ts'

export interface StreamEvent {
  /** The event's type, by default `message`; `document` for JSON outside of any event. */
  type: string
  data: string
}

/** Takes the bytes of a stream of server-sent events as they arrive, split anywhere, and returns its events. */
export interface EventData {
  /** Returns the events that this piece completes. Throws UnreadableAnswer for an endless event. */
  read(piece: Uint8Array): StreamEvent[]
  /** Returns a last event without its blank line; to be called once the stream has ended. */
  end(): StreamEvent[]
}

/**
 * Server-sent events by the WHATWG's standard (HTML, 9.2.6), with two additions for servers that break it: a line
 * `error: …` is an event of that type, as llama.cpp sends it, and lines of JSON outside of any field, such as a proxy's
 * error or a whole completion, are one event of the type `document`. A last event without its blank line counts.
 */
export function createEventData(): EventData {
  const lines = createLines(takeLine)
  let events: StreamEvent[] = []
  /** The data lines of the incomplete event, joined by LF. */
  let data: string | undefined
  let type = ''
  /** Lines of JSON outside of any field. */
  let document: string[] = []
  /** Number of characters in the incomplete event and in those lines. */
  let characters = 0

  function endDocument(): void {
    if (document.length > 0) events.push({ type: 'document', data: document.join('\n') })
    document = []
  }

  function endEvent(): void {
    if (data !== undefined) events.push({ type: type === '' ? 'message' : type, data })
    data = undefined
    type = ''
    if (document.length === 0) characters = 0
  }

  function takeField(name: string | undefined, value: string): void {
    endDocument()
    if (name === 'data') data = data === undefined ? value : `${data}\n${value}`
    else if (name === 'event') type = value
    else if (name === 'error') events.push({ type: 'error', data: value })
  }

  function takeLine(line: string): void {
    if (line === '') {
      endEvent()
      return
    }
    characters += line.length
    if (characters > maxCharacters) throw new UnreadableAnswer('An event has no end.')
    const field = /^(data|event|error|id|retry)(?:: ?|$)/.exec(line)
    if (field !== null) takeField(field[1], line.slice(field[0].length))
    else if (document.length > 0 || /^\s*[{[]/.test(line)) document.push(line)
    else characters -= line.length
  }

  function taken(): StreamEvent[] {
    const complete = events
    events = []
    return complete
  }

  return {
    read(piece) {
      lines.read(piece)
      return taken()
    },
    end() {
      lines.end()
      endEvent()
      endDocument()
      return taken()
    },
  }
}
