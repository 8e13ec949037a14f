import { normalizedText } from '#platform/normalized-text.ts'
import { lettersOf } from './direction.ts'

/** A run of characters on a page, as pdf.js reports it. */
export interface TextItem {
  /** Where it has letters that are written from the right, as it is seen from the left. */
  str: string
  /** Matrix `[a, b, c, d, x, y]` from text to page; y grows upwards, in points. */
  transform: number[]
  width: number
  height: number
  fontName: string
}

/** The same as it is seen when the page is turned so that the run goes from left to right. */
export interface Run {
  text: string
  /** Where it begins and ends on its line; on a page that is read from the right, distances from there. */
  start: number
  end: number
  /** How far down its baseline is. */
  base: number
  /** Of its font. */
  size: number
  /** The page's columns follow one another from right to left. */
  isMirrored: boolean
}

/** Text in directions that differ by less belongs together: what scanners recognise is never quite straight. */
const sector = Math.PI / 18
/** Marks as they are drawn in vertical writing. */
const uprightMarks = /[\ufe10-\ufe19\ufe30-\ufe48]/g

/** The runs of a page by the direction in which they are written, most runs first. */
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

/** Vertical writing goes from top to bottom, with its lines from right to left. */
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
