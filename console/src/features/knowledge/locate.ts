/**
 * Locates a passage on a page of a PDF by its letters alone: the reader that extracted it and the one that
 * draws the page differ in spaces, hyphens, ligatures and in the order of columns.
 */

const fromRight = /[\p{scx=Hebrew}\p{scx=Arabic}\p{scx=Syriac}\p{scx=Thaana}\p{scx=Nko}]/u

/** A part of a text item of the page, in UTF-16 units; `end` is exclusive. */
export interface Mark {
  item: number
  start: number
  end: number
}

export interface Location {
  /** The marks; empty if too little of the passage was found to be sure. */
  marks: Mark[]
  /** The share of the passage's letters that were found, 0 to 1. */
  share: number
}

interface Range {
  start: number
  end: number
}

/** Min share of found letters; below it, nothing is marked. */
const minShare = 0.6
/**
 * The stages search by sequences of `seed` letters that occur in at most `maxPlaces` places: long ones first,
 * then ones unique on the page and in the text, for cells of tables drawn in another order. Neighbours of a
 * cell on the page need not follow it in the text, so these matches stay within the item.
 */
const stages = [
  { seed: 24, maxPlaces: 16, growsOn: true, chance: 24 },
  { seed: 8, maxPlaces: 1, growsOn: false, chance: Number.POSITIVE_INFINITY },
] as const
type Stage = (typeof stages)[number]
/** Number of attempts for matches that lost a part to a longer one. */
const rounds = 4

/**
 * Finds a passage among the text items of a page.
 * @param text the text around the passage, ideally of the whole page: it decides between several equal places
 * @param range the passage in `text`
 */
export function locate(items: readonly string[], text: string, range: Range): Location {
  const page = lettersOf(items)
  const around = lettersOf([text])
  const inRange = (at: number) => {
    const unit = around.places[at]?.start ?? 0
    return unit >= range.start && unit < range.end
  }
  const ownLetters = around.letters.split('').filter((_, at) => inRange(at))
  const total = ownLetters.length
  // Words of mixed directions might be reordered; as the whole page they cannot be of another passage.
  if (fromRight.test(page.letters) && ownLetters.sort().join('') === page.letters.split('').sort().join('')) {
    return { marks: marksOf([...page.places.keys()], page.places), share: 1 }
  }
  const found = alignments(page, around.letters).flatMap(({ from, to, shift }) =>
    Array.from({ length: to - from }, (_, at) => from + at)
      .filter(inRange)
      .map(at => at + shift),
  )
  const share = total === 0 ? 0 : found.length / total
  return { marks: share < minShare ? [] : marksOf(found, page.places), share }
}

interface Letters {
  letters: string
  /** The places of the letters in the items. */
  places: Mark[]
}

/** Returns letters and digits in their plainest form: without accents, ligatures, cases and widths. */
function lettersOf(items: readonly string[]): Letters {
  const places: Mark[] = []
  let letters = ''
  items.forEach((text, item) => {
    let start = 0
    for (const character of text) {
      const end = start + character.length
      const plain = character
        .normalize('NFKD')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]/gu, '')
      letters += plain
      for (let unit = 0; unit < plain.length; unit += 1) places.push({ item, start, end })
      start = end
    }
  })
  return { letters, places }
}

/** Returns the letters of a text, to compare it with another. */
export const plainLetters = (text: string) => lettersOf([text]).letters

/** A match: `text[from…to)` equals `page[from + shift…to + shift)`. */
interface Match {
  from: number
  to: number
  shift: number
}

/** Returns parts of the text with their places on the page: longest first, no overlaps, no ambiguity. */
function alignments(page: Letters, text: string): Match[] {
  const all: Match[] = []
  const taken: Match[] = []
  const takenText = new Uint8Array(text.length)
  const takenPage = new Uint8Array(page.letters.length)
  const take = (match: Match) => {
    takenText.fill(1, match.from, match.to)
    takenPage.fill(1, match.from + match.shift, match.to + match.shift)
    taken.push(match)
  }
  for (const stage of stages) {
    let waiting = matchesOf(page, text, stage)
    all.push(...waiting)
    for (let round = 0; round < rounds && waiting.length > 0; round += 1) {
      const cut: Match[] = []
      for (const match of waiting.toSorted(longestFirst)) {
        const free = freePart(match, takenText, takenPage)
        if (lengthOf(free) === lengthOf(match)) take(match)
        else if (lengthOf(free) >= stage.seed) cut.push(free)
      }
      waiting = cut
    }
  }
  const isFree = ({ from, to }: Match, shift: number) =>
    !takenPage.subarray(from + shift, to + shift).includes(1)
  const hasRival = (match: Match) =>
    all.some(
      ({ from, to, shift }) =>
        shift !== match.shift && from <= match.from && to >= match.to && isFree(match, shift),
    )
  return taken.filter(match => !hasRival(match))
}

const lengthOf = ({ from, to }: Match) => to - from
const longestFirst = (one: Match, other: Match) =>
  lengthOf(other) - lengthOf(one) || one.from - other.from || one.shift - other.shift

/** Returns all longest equal parts that contain a seed. */
function matchesOf(page: Letters, text: string, stage: Stage): Match[] {
  const seed = Math.min(stage.seed, text.length, page.letters.length)
  const places = placesOf(page.letters, seed, stage.maxPlaces)
  const ownPlaces = placesOf(text, seed, stage.maxPlaces)
  const matches: Match[] = []
  const latest = new Map<number, Match>()
  for (let at = 0; at + seed <= text.length; at += 1) {
    const letters = text.slice(at, at + seed)
    if (!ownPlaces.has(letters)) continue
    for (const shift of (places.get(letters) ?? []).map(place => place - at)) {
      const before = latest.get(shift)
      if (before !== undefined && at + seed <= before.to) continue
      const match = grown({ from: at, to: at + seed, shift }, { page, text, stage })
      if (before !== undefined && match.from < before.to) before.to = match.to
      else {
        latest.set(shift, match)
        matches.push(match)
      }
    }
  }
  return matches.map(match => withoutChance(match, { page, text, stage }))
}

/** Returns the places of each sequence of that length, without sequences in more than `max` places. */
function placesOf(text: string, length: number, max: number): Map<string, number[]> {
  const places = new Map<string, number[]>()
  for (let at = 0; length > 0 && at + length <= text.length; at += 1) {
    const letters = text.slice(at, at + length)
    const known = places.get(letters)
    if (known === undefined) places.set(letters, [at])
    else if (known.length <= max) known.push(at)
  }
  for (const [letters, { length: count }] of places) if (count > max) places.delete(letters)
  return places
}

interface Ground {
  page: Letters
  text: string
  stage: Stage
}

function grown({ from, to, shift }: Match, { page: { letters, places }, text, stage }: Ground): Match {
  let [start, end] = [from, to]
  const first = places[from + shift]?.item
  const last = places[to - 1 + shift]?.item
  const isEqual = (at: number, item: number | undefined) =>
    at >= 0 &&
    at < text.length &&
    text[at] === letters[at + shift] &&
    (stage.growsOn || places[at + shift]?.item === item)
  while (isEqual(start - 1, first)) start -= 1
  while (isEqual(end, last)) end += 1
  return { from: start, to: end, shift }
}

/** Trims the match's ends inside items that it only partly covers: a few letters can be equal by chance. */
function withoutChance(
  { from, to, shift }: Match,
  { page: { places }, text, stage: { chance } }: Ground,
): Match {
  const itemAt = (at: number) => places[at + shift]?.item
  let [first, last] = [from, to]
  while (first < to && itemAt(first) === itemAt(from)) first += 1
  while (last > from && itemAt(last - 1) === itemAt(to - 1)) last -= 1
  const isHead = from > 0 && first < to && first - from < chance && itemAt(from - 1) === itemAt(from)
  const isTail = to < text.length && last > from && to - last < chance && itemAt(to) === itemAt(to - 1)
  return { from: isHead ? first : from, to: isTail ? last : to, shift }
}

/** Returns the part of the match that longer ones have not taken. */
function freePart({ from, to, shift }: Match, takenText: Uint8Array, takenPage: Uint8Array): Match {
  const isTaken = (at: number) => takenText[at] === 1 || takenPage[at + shift] === 1
  let start = from
  while (start < to && isTaken(start)) start += 1
  let end = start
  while (end < to && !isTaken(end)) end += 1
  return { from: start, to: end, shift }
}

/** Returns letters of the page as parts of its items, in the page's order. */
function marksOf(letters: readonly number[], places: readonly Mark[]): Mark[] {
  const marks: Mark[] = []
  let before = -2
  for (const at of letters.toSorted((one, other) => one - other)) {
    const place = places[at]
    const last = marks.at(-1)
    if (place === undefined) continue
    if (last !== undefined && at === before + 1 && last.item === place.item) last.end = place.end
    else marks.push({ ...place })
    before = at
  }
  return marks
}
