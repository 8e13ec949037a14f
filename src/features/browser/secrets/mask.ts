import { setImmediate as yieldToOthers } from 'node:timers/promises'

export const hiddenValue = '********'

/** Shorter values than this stand in too many words to be replaced within them. */
const distinctive = 4
/** Characters that are looked at in one turn of the event loop. */
const portion = 64 * 1024

/** Replaces values in texts wherever they stand, also as addresses write them. */
export interface Mask {
  (text: string): string
  /** The same for a long text, in portions. */
  long(text: string): Promise<string>
}

export function createMask(values: Iterable<string>): Mask {
  const all = [...new Set([...values].flatMap(spellings))].toSorted((one, other) => other.length - one.length)
  if (all.length === 0) return Object.assign((text: string) => text, { long: async (text: string) => text })
  const patterns = all.map(value => {
    const literal = RegExp.escape(value)
    return value.length < distinctive ? `(?<![\\w])${literal}(?![\\w])` : literal
  })
  const pattern = new RegExp(patterns.join('|'), 'g')
  const mask = (text: string) => text.replace(pattern, hiddenValue)
  const overlap = (all[0]?.length ?? 0) + 1

  async function long(text: string): Promise<string> {
    const masked: string[] = []
    for (let from = 0; from < text.length; await yieldToOthers()) {
      // One character more at both ends, by which the edges of words are known.
      const start = Math.max(0, from - 1)
      const part = text.slice(start, from + portion + overlap)
      let at = from - start
      const end = at + portion
      pattern.lastIndex = at
      for (let found = pattern.exec(part); found && found.index < end; found = pattern.exec(part)) {
        masked.push(part.slice(at, found.index), hiddenValue)
        at = pattern.lastIndex
      }
      const next = Math.max(at, end)
      masked.push(part.slice(at, next))
      from = start + next
    }
    return masked.join('')
  }
  return Object.assign(mask, { long })
}

function spellings(value: string): string[] {
  if (value.trim() === '') return []
  const encoded = encodeURIComponent(value.toWellFormed())
  return [value, encoded, encoded.replaceAll('%20', '+'), JSON.stringify(value).slice(1, -1)]
}

/** Every text within the value, keys included, masked. */
export function maskWithin(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map(inner => maskWithin(inner, mask))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [mask(name), maskWithin(inner, mask)]),
  )
}

/** The same for JSON, in portions. @param names whether those of fields are masked, too */
export async function maskJson(json: string, mask: Mask, names: boolean): Promise<string> {
  if ((await mask.long(json)) === json) return json
  const masked: string[] = []
  let [at, turnEnds] = [0, portion]
  for (const { 0: text, index } of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"/g)) {
    const end = index + text.length
    if (end > turnEnds) {
      await yieldToOthers()
      turnEnds = end + portion
    }
    const isUnchanged = text.length <= portion && mask(text) === text
    if (isUnchanged || (!names && json[end] === ':')) continue
    masked.push(json.slice(at, index), JSON.stringify(await mask.long(JSON.parse(text))))
    at = end
  }
  masked.push(json.slice(at))
  return masked.join('')
}
