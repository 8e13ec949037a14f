/** A place in a text, from its first code unit to the one after its last. */
export interface Place {
  start: number
  end: number
}

/** The beginnings of all texts as states; 0 is the empty one. */
interface Automaton {
  letters: Letters
  /** The state that a letter leads to. */
  next: ReadonlyMap<number, number>
  /** By state: the longest other one that it ends with. */
  shorter: Uint32Array
  /** By state: the length of the longest text that it ends with; 0 if there is none. */
  found: Uint32Array
}

/** The code units of all texts, numbered from 1, so that steps are small numbers; 0 is any other one. */
interface Letters {
  numbers: Uint16Array
  count: number
}

/**
 * Finds where any of the texts stands within another one, in order; places that overlap are one. Takes time in proportion to
 * the lengths alone (Aho and Corasick, 1975): a regular expression has a largest size, and whoever writes both the texts and
 * what they are looked for in can make it compare for minutes.
 */
export function createTextFinder(texts: readonly string[]): (within: string) => Place[] {
  const automaton = automatonOf(texts)
  const { letters, found } = automaton
  return within => {
    const places: Place[] = []
    let state = 0
    for (let index = 0; index < within.length; index++) {
      const letter = letters.numbers[within.charCodeAt(index)] ?? 0
      state = letter === 0 ? 0 : follow(automaton, state, letter)
      const length = found[state] ?? 0
      if (length > 0) add(places, { start: index + 1 - length, end: index + 1 })
    }
    return places
  }
}

/** Places come by their ends; a later one may begin before several others. */
function add(places: Place[], place: Place): void {
  let { start } = place
  for (let last = places.at(-1); last !== undefined && last.end > start; last = places.at(-1)) {
    start = Math.min(start, last.start)
    places.pop()
  }
  places.push({ start, end: place.end })
}

function automatonOf(texts: readonly string[]): Automaton {
  const letters = lettersOf(texts)
  const next = new Map<number, number>()
  // By state: what led to it, its length, and whether a text ends there.
  const steps = [0]
  const lengths = [0]
  const ends = new Set<number>()
  for (const text of texts) {
    let state = 0
    for (let index = 0; index < text.length; index++) {
      const step = state * letters.count + (letters.numbers[text.charCodeAt(index)] ?? 0)
      const known = next.get(step)
      if (known === undefined) {
        next.set(step, steps.length)
        steps.push(step)
        lengths.push(index + 1)
      }
      state = known ?? steps.length - 1
    }
    ends.add(state)
  }
  const shorter = new Uint32Array(steps.length)
  const found = new Uint32Array(steps.length)
  const automaton = { letters, next, shorter, found }
  for (const state of byLength(lengths)) {
    const step = steps[state] ?? 0
    const before = Math.floor(step / letters.count)
    // What a single letter ends with is nothing.
    if (before !== 0) shorter[state] = follow(automaton, shorter[before] ?? 0, step % letters.count)
    found[state] = ends.has(state) ? (lengths[state] ?? 0) : (found[shorter[state] ?? 0] ?? 0)
  }
  return automaton
}

function lettersOf(texts: readonly string[]): Letters {
  const numbers = new Uint16Array(0x10000)
  let count = 1
  for (const text of texts)
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (numbers[unit] === 0) numbers[unit] = count++
    }
  return { numbers, count }
}

/** All states but the empty one: each needs those that are shorter. */
function byLength(lengths: readonly number[]): Uint32Array {
  return Uint32Array.from(lengths.keys().drop(1)).sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0))
}

function follow({ letters, next, shorter }: Automaton, from: number, letter: number): number {
  for (let state = from; ; state = shorter[state] ?? 0) {
    const reached = next.get(state * letters.count + letter)
    if (reached !== undefined) return reached
    if (state === 0) return 0
  }
}
