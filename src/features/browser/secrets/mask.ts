import { setImmediate as yieldToOthers } from 'node:timers/promises'

export const hiddenValue = '********'

/** Values shorter than this are in too many words to be replaced within them. */
const distinctive = 4
/** Max characters searched in one turn of the event loop. */
const portion = 64 * 1024

/** Replaces values anywhere in texts, also in the encoding of addresses. */
export interface Mask {
  (text: string): string
  /** Masks a long text in batches. */
  long(text: string): Promise<string>
}

export function createMask(values: Iterable<string>): Mask {
  const all = new Set([...values].flatMap(spellings))
  if (all.size === 0) return Object.assign((text: string) => text, { long: async (text: string) => text })
  const short = [...all].filter(value => value.length < distinctive)
  const search = createSearch([...all].filter(value => value.length >= distinctive))
  const longestFirst = short.toSorted((one, other) => other.length - one.length).map(RegExp.escape)
  const words = new RegExp(`(?<!\\w)(?:${longestFirst.join('|')})(?!\\w)`, 'g')

  function* inPortions(text: string): Generator<undefined, string> {
    const keptTexts: string[] = []
    let end = 0
    for (const place of yield* search(text)) {
      keptTexts.push(text.slice(end, place.start))
      end = place.end
    }
    const rest = [...keptTexts, text.slice(end)]
    if (short.length > 0)
      for (const [at, part] of rest.entries()) {
        rest[at] = part.replace(words, hiddenValue)
        if (at % 100 === 99) yield
      }
    return rest.join(hiddenValue)
  }

  function mask(text: string): string {
    const portions = inPortions(text)
    for (;;) {
      const { done, value } = portions.next()
      if (done) return value
    }
  }
  async function long(text: string): Promise<string> {
    const portions = inPortions(text)
    for (;;) {
      const { done, value } = portions.next()
      if (done) return value
      await yieldToOthers()
    }
  }
  return Object.assign(mask, { long })
}

interface Found {
  start: number
  end: number
}

/**
 * Finds all places of any of the values, by the algorithm of Aho and Corasick: in linear time, because pages
 * choose both values and texts, and a regular expression compares almost all of each value at each place of
 * some texts. Yields after batches.
 */
function createSearch(values: readonly string[]) {
  const next = new Map<number, number>()
  const states = [{ parent: 0, character: 0, depth: 0, fallback: 0, length: 0 }]
  const keyOf = (state: number, character: number) => state * 65_536 + character

  function step(from: number, character: number): number {
    for (let state = from; ; state = states[state]?.fallback ?? 0) {
      const to = next.get(keyOf(state, character))
      if (to !== undefined) return to
      if (state === 0) return 0
    }
  }

  for (const value of values) {
    let parent = 0
    for (let depth = 1; depth <= value.length; depth += 1) {
      const character = value.charCodeAt(depth - 1)
      const known = next.get(keyOf(parent, character))
      const length = depth === value.length ? depth : 0
      const state = known ?? states.push({ parent, character, depth, fallback: 0, length }) - 1
      next.set(keyOf(parent, character), state)
      if (length > 0) Object.assign(states[state] ?? {}, { length })
      parent = state
    }
  }
  for (const state of states.slice(1).toSorted((one, other) => one.depth - other.depth)) {
    if (state.depth > 1) state.fallback = step(states[state.parent]?.fallback ?? 0, state.character)
    state.length ||= states[state.fallback]?.length ?? 0
  }

  return function* search(text: string): Generator<undefined, Found[]> {
    const found: Found[] = []
    let state = 0
    for (let index = 0; index < text.length; index += 1) {
      if (index % portion === portion - 1) yield
      state = step(state, text.charCodeAt(index))
      const length = states[state]?.length ?? 0
      if (length === 0) continue
      const place = { start: index + 1 - length, end: index + 1 }
      for (let last = found.at(-1); last && last.end > place.start; last = found.at(-1)) {
        place.start = Math.min(place.start, last.start)
        found.pop()
      }
      found.push(place)
    }
    return found
  }
}

function spellings(value: string): string[] {
  if (value.trim() === '') return []
  const encoded = encodeURIComponent(value.toWellFormed())
  return [value, encoded, encoded.replaceAll('%20', '+'), JSON.stringify(value).slice(1, -1)]
}

/** Masks every text within the value, including keys. */
export function maskWithin(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map(inner => maskWithin(inner, mask))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [mask(name), maskWithin(inner, mask)]),
  )
}

/** Masks JSON in batches. @param names true if the names of fields are masked, too */
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
