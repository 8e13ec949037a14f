import { normalizedText } from '#platform/normalized-text.ts'
import { lettersOf } from './direction.ts'

/** A run of characters on a page of pdf.js. */
export interface TextItem {
  /** The text; in visual order from the left if it has letters from the right. */
  str: string
  /** Matrix `[a, b, c, d, x, y]` from text to page; y grows upwards, in points. */
  transform: number[]
  width: number
  height: number
  fontName: string
}

/** A run on a page that is turned so that the run goes from left to right. */
export interface Run {
  text: string
  /** Begin and end on its line; on a page that is read from the right, distances from there. */
  start: number
  end: number
  /** Distance of its baseline from the top. */
  base: number
  /** Size of its font. */
  size: number
  /** True if the page's columns go from right to left. */
  isMirrored: boolean
}

/** Max angle between directions of one text: scanned lines are never quite straight. */
const sector = Math.PI / 18
/** Marks in the form of vertical writing. */
const uprightMarks = /[\ufe10-\ufe19\ufe30-\ufe48]/g

/** Returns the runs of a page by writing direction, most runs first. */
export function runsByDirection(
  items: readonly TextItem[],
  isVertical: (fontName: string) => boolean,
): Run[][] {
  const directed = items
    .filter(({ str, transform }) => str.trim() !== '' && transform.every(Number.isFinite))
    .map(item => ({ ...item, isVertical: isVertical(item.fontName) }))
  const groups = Map.groupBy(directed, item => Math.round(angleOf(item) / sector) % 36)
  return [...groups.values()].map(runsOf).toSorted((one, other) => other.length - one.length)
}

interface DirectedItem extends TextItem {
  isVertical: boolean
}

/** Returns an item's angle; vertical writing goes from top to bottom, with its lines from right to left. */
function angleOf({ transform: [a = 1, b = 0, c = 0, d = 1], isVertical }: DirectedItem): number {
  const angle = isVertical ? Math.atan2(-d, -c) : Math.atan2(b, a)
  return angle < -sector / 2 ? angle + 2 * Math.PI : angle
}

function runsOf(items: readonly DirectedItem[]): Run[] {
  const angle = items[0] === undefined ? 0 : angleOf(items[0])
  const [x, y] = [Math.cos(angle), Math.sin(angle)]
  const { right, left } = lettersOf(items.map(({ str }) => str).join(' '))
  const isMirrored = right > left
  return items.map(({ str, transform, width, height, isVertical }) => {
    const [across = 0, up = 0] = transform.slice(4)
    const [size, length] = isVertical ? [width, height] : [height, width]
    const start = across * x + up * y
    const end = start + (length || (str.length * size) / 2)
    return {
      text: str.replace(uprightMarks, mark => normalizedText(mark, 'NFKC')),
      start: isMirrored ? -end : start,
      end: isMirrored ? -start : end,
      base: across * y - up * x,
      size,
      isMirrored,
    }
  })
}
