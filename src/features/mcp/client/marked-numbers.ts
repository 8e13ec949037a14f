/** Carries numbers that a double would change through the library above, which parses JSON by itself. */
import { randomUUID } from 'node:crypto'
import { mayBeInexact, parseJson, withNumbersAsText } from '#platform/exact-json.ts'

/** Servers cannot guess it, so that none of their texts becomes a number. */
const mark = `number ${randomUUID()} `
const markedNumber = new RegExp(`"${mark}([^"]+)"`, 'g')
/** A string that does not end reaches to the end of the text: otherwise each quote in it would be tried as a beginning. */
const stringOrNumber = /"(?:[^"\\]+|\\.?)*"?|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/** JSON with texts in the place of such numbers. */
export function markedJson(json: Uint8Array): string {
  return marked(new TextDecoder().decode(json))
}

/** The same for the data of an event stream, which comes in whole events. */
export async function* markedEvents(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const events of stream) {
    const text = new TextDecoder().decode(events)
    yield mayBeInexact(text) ? new TextEncoder().encode(text.replace(/^data:.*$/gm, marked)) : events
  }
}

function marked(json: string): string {
  if (!mayBeInexact(json)) return json
  return json.replace(stringOrNumber, found => {
    const kept = found.startsWith('"') ? found : withNumbersAsText(found)
    return kept === found || !kept.startsWith('"') ? found : `"${mark}${found}"`
  })
}

/** The value that marked JSON was parsed to, with its numbers. */
export function readMarked<Value>(value: Value): Value {
  const json = JSON.stringify(value)
  return json?.includes(mark) ? parseJson(json.replace(markedNumber, '$1')) : value
}
