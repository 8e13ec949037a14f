/** One of a stream of server-sent events. */
interface SentEvent {
  id: string | undefined
  data: string
}

/** The events of an answer that is a stream of them, as they come; comments are left out. */
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

/** A line ends by these two alone: `.`, `^` and `$` take the separators of Unicode for ends, too, which a text may hold. */
const dataField = /(?:^|[\r\n])data: ?([^\r\n]*)/
const idField = /(?:^|[\r\n])id: ?([^\r\n]*)/
const fieldOf = (event: string, field: RegExp) => field.exec(event)?.[1]
