import type { Mark } from './locate.ts'

/** The data of pdf.js on a piece of text on a page. */
export interface TextItem {
  str: string
  dir: string
  /** The transform of a text of size 1 at the origin: `[a, b, c, d, x, y]` of PDF 8.3.3. */
  transform: readonly number[]
  /** The length along the text, in units of the page; for vertical text, the length across it. */
  width: number
  height: number
}

interface Font {
  ascent: number
  descent: number
  vertical?: boolean
}

type Point = readonly [x: number, y: number]

/** Returns the corners of a marked part of an item, in page units. `widthOf` measures texts in any unit. */
export function cornersOf(
  { start, end }: Mark,
  { str, dir, transform, width, height }: TextItem,
  { font, widthOf }: { font: Font | undefined; widthOf(text: string): number },
): Point[] {
  const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = transform
  const along = Math.hypot(a, b) || 1
  const size = Math.hypot(c, d) || 1
  const whole = widthOf(str) || 1
  const [first, last] = [widthOf(str.slice(0, start)) / whole, widthOf(str.slice(0, end)) / whole]
  const [from, to] = dir === 'rtl' ? [1 - last, 1 - first] : [first, last]
  const at = (right: number, up: number): Point => [
    x + (a / along) * right + (c / size) * up,
    y + (b / along) * right + (d / size) * up,
  ]
  if (font?.vertical)
    return [
      at(-size / 2, -height * from),
      at(size / 2, -height * from),
      at(size / 2, -height * to),
      at(-size / 2, -height * to),
    ]
  const bottom = (font?.descent || -0.22) * size
  const top = (font?.ascent || 0.78) * size
  return [at(width * from, bottom), at(width * to, bottom), at(width * to, top), at(width * from, top)]
}
