import type { Line } from './lines.ts'
import { linesOf } from './lines.ts'
import type { SnapshotNode } from './snapshot.ts'

/** Characters of an outline, with everything around its lines. */
export const outlineCharacters = 12_000
/** Room for the sentences that say what was left out. */
const noteCharacters = 300
/** No more spaces than this before a line, however deep it lies. */
const deepest = 12

export interface OutlineOptions {
  /** CSS pixels. */
  viewportHeight: number
  /** Replaces what must not be shown. */
  mask: (text: string) => string
  /** Only lines with this text, in any case. */
  find?: string
  /** Only the element with this reference and what is in it. */
  ref?: string
  /** Keys of lines that are known already. */
  known?: ReadonlySet<string>
  /** Whether the page has more than is in the lines. */
  isPart?: boolean
  /** Most characters. */
  characters?: number
}

export interface Outline {
  text: string
  /** All lines of the page, also those that were left out. */
  lines: readonly Line[]
}

/**
 * The text and the controls of a page, always with no more than so many characters: those nearest to the window first, in the
 * order of the page, and with a count of what was left out.
 */
export function outlineOf(nodes: readonly SnapshotNode[], options: OutlineOptions): Outline {
  const { viewportHeight, find, ref, known, characters = outlineCharacters } = options
  const lines = linesOf(nodes, options.mask)
  const part = ref === undefined ? lines : partOf(lines, ref)
  const phrase = find?.toLowerCase()
  const wanted = part.filter(
    ({ key, write }) => (phrase === undefined || write().toLowerCase().includes(phrase)) && !known?.has(key),
  )
  const shown = nearest(wanted, viewportHeight, characters - noteCharacters)
  const count = find === undefined ? undefined : `${amount(wanted.length)} found with this text.`
  const further = options.isPart ? 'The page is large: what is further away was not looked at.' : undefined
  const text = [count, ...indented(shown), leftOut(wanted, shown, viewportHeight), further]
  return { text: text.filter(line => line !== undefined).join('\n'), lines }
}

/** The line of the element, and those that follow it deeper. */
function partOf(lines: readonly Line[], ref: string): readonly Line[] {
  const first = lines.findIndex(line => line.ref === ref)
  const depth = lines[first]?.depth ?? 0
  const end = lines.findIndex((line, at) => at > first && line.depth <= depth)
  return first === -1 ? [] : lines.slice(first, end === -1 ? undefined : end)
}

interface Shown {
  line: Line
  text: string
}

/** As many as there is room for, by their distance from the window; in the order of the page. */
function nearest(lines: readonly Line[], height: number, characters: number): Shown[] {
  const order = lines.map((line, at) => ({ line, at, distance: distanceOf(line, height) }))
  order.sort((one, other) => one.distance - other.distance || one.at - other.at)
  const shown: (Shown & { at: number })[] = []
  let left = characters
  for (const { line, at } of order) {
    const text = line.write()
    left -= text.length + Math.min(line.depth, deepest) + 1
    if (left < 0) break
    shown.push({ line, text, at })
  }
  return shown.toSorted((one, other) => one.at - other.at)
}

/** CSS pixels; none for what can be seen. */
function distanceOf({ top, bottom }: Line, height: number): number {
  return Math.max(0, top - height, -bottom)
}

function indented(shown: readonly Shown[]): string[] {
  const base = Math.min(...shown.map(({ line }) => line.depth))
  return shown.map(({ line, text }) => `${' '.repeat(Math.min(line.depth - base, deepest))}${text}`)
}

function leftOut(lines: readonly Line[], shown: readonly Shown[], height: number): string | undefined {
  if (lines.length === shown.length) return undefined
  const isShown = new Set(shown.map(({ line }) => line))
  const others = lines.filter(line => !isShown.has(line))
  const above = others.filter(({ bottom }) => bottom < 0).length
  const below = others.filter(({ top }) => top > height).length
  const counts = Object.entries({ above, below, 'in view': others.length - above - below })
  const where = counts.flatMap(([place, number]) =>
    number > 0 ? [`${number.toLocaleString('en')} more ${place}`] : [],
  )
  return `… ${where.join(', ')}. Scroll, look for words with find, or ask for one part with ref.`
}

const amount = (number: number) => (number === 1 ? '1 line was' : `${number.toLocaleString('en')} lines were`)
