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
      const data = /^data: ?(.*)$/m.exec(event)?.[1]
      if (data !== undefined) yield { id: /^id: ?(.*)$/m.exec(event)?.[1], data }
    }
  }
}
