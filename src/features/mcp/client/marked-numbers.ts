/** Marks numbers that a double would change, for the library above, which parses JSON by itself. */
import { markNumber, mayBeInexact, replaceNumbers } from '#platform/exact-json.ts'

export function markNumbers(json: Uint8Array): string {
  return replaceNumbers(new TextDecoder().decode(json), markNumber)
}

/** The same for the data of an event stream, which comes in whole events. */
export async function* markEvents(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const events of stream) {
    const text = new TextDecoder().decode(events)
    const mark = (data: string) => replaceNumbers(data, markNumber)
    yield mayBeInexact(text) ? new TextEncoder().encode(text.replace(/^data:.*$/gm, mark)) : events
  }
}
