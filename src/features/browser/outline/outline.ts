import { type Line, linesOf } from './lines.ts'
import type { SnapshotNode } from './snapshot.ts'

/** Max characters of an outline, including the notes around its lines. */
export const outlineCharacters = 12_000
/** Room for the notes on omitted lines. */
const noteCharacters = 300
/** Max spaces before a line, at any depth. */
const deepest = 12

export interface OutlineOptions {
  /** CSS pixels. */
  viewportHeight: number
  /** Replaces secrets. */
  mask: (text: string) => string
  /** Only lines with this text, in any case. */
  find?: string
  /** Only the element with this reference and its content. */
  ref?: string
  /** Keys of lines that the caller knows already. */
  known?: ReadonlySet<string>
  /** True if the lines do not cover the whole page. */
  isPart?: boolean
  /** Max characters. */
  characters?: number
}

export interface Outline {
  text: string
  /** All lines of the page, including omitted ones. */
  lines: readonly Line[]
}

/**
 * Returns the text and the controls of a page within a max number of characters: those nearest to the window,
 * in page order, with a count of the omitted lines.
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

/** Returns the line of the element, and the deeper lines that follow it. */
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

/** Returns the nearest lines for which there is room, in page order. */
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

/** Returns the distance from the window in CSS pixels; zero for a visible line. */
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
