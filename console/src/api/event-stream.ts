/** One server-sent event of a stream. */
interface SentEvent {
  id: string | undefined
  data: string
}

/** Reads the events of a response as they arrive; comments are left out. */
export async function* readEvents(response: Response): AsyncGenerator<SentEvent> {
  const pieces = response.body?.pipeThrough(new TextDecoderStream())
  let rest = ''
  for await (const piece of pieces ?? []) {
    const events = (rest + piece).split(/\r?\n\r?\n/)
    rest = events.pop() ?? ''
    for (const event of events) {
      const data = fieldOf(event, dataField)
      if (data !== undefined) yield { id: fieldOf(event, idField), data }
    }
  }
}

/** Only CR and LF end a line: `.`, `^` and `$` also stop at Unicode's separators, which texts can contain. */
const dataField = /(?:^|[\r\n])data: ?([^\r\n]*)/
const idField = /(?:^|[\r\n])id: ?([^\r\n]*)/
const fieldOf = (event: string, field: RegExp) => field.exec(event)?.[1]
