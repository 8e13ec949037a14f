/**
 * Reads the text of a page from its drawing commands. pdf.js's own reading, which is quicker, ignores layers,
 * and turns lines of mixed directions so that their order on the page is lost.
 */
import { normalizedText } from '#platform/normalized-text.ts'
import { isFromRight, logicalText } from './reading-order/direction.ts'
import type { TextItem } from './reading-order/runs.ts'

/** Maps text to page: `[a, b, c, d, x, y]`. */
type Matrix = readonly number[]

/** A sign of pdf.js, in thousandths of the size of its font. */
interface Glyph {
  unicode: string
  width: number
  vmetric?: number[]
  isSpace: boolean
}

interface PageToRead {
  /** The drawing of the page: numbers of commands, and their arguments. */
  commands: { fnArray: readonly number[]; argsArray: readonly unknown[] }
  /** The numbers by the names of the commands. */
  numbers: Readonly<Record<string, number>>
  fontOf: (name: string) => { vertical?: boolean; fontMatrix?: Matrix }
  /** Returns true if the content of a layer is shown. */
  isShown: (layer: unknown) => boolean
  /** Left, bottom, right and top of the page, which has no content outside. */
  view: readonly number[]
}

interface OpenItem extends TextItem {
  signs: string[]
  /** The expected place of the next sign. */
  next: Matrix
}

const identity: Matrix = [1, 0, 0, 1, 0, 0]
const initialState = {
  matrix: identity,
  fontName: '',
  size: 0,
  spacing: 0,
  wordSpacing: 0,
  scale: 1,
  leading: 0,
  rise: 0,
}
/** Gaps in sizes of the font: the min for a space, and for another item, and the max overlap of letters. */
const [spaceGap, widestGap, overlap] = [0.1, 0.6, -0.2]
const presentationForms = /[\ufb00-\ufdff\ufe70-\ufefc]/g

/**
 * Returns items in drawing order; the text of each is in its order on the page, from left to right.
 * `isHidden` is true if layers hide others.
 */
export function drawnItems(page: PageToRead): { items: TextItem[]; isHidden: boolean } {
  const reader = new DrawnText(page)
  const { fnArray, argsArray } = page.commands
  const actions = new Map(Object.entries(reader.actions).map(([name, act]) => [page.numbers[name], act]))
  for (const [index, number] of fnArray.entries()) {
    const args = (argsArray[index] ?? []) as never[]
    actions.get(number)?.(...args)
  }
  const items = reader.items.map(({ signs, next: _, ...item }) => ({ ...item, str: signs.join('') }))
  return { items, isHidden: reader.isHidden }
}

class DrawnText {
  readonly items: OpenItem[] = []
  isHidden = false
  readonly #page: PageToRead
  #state = initialState
  #saved: (typeof initialState)[] = []
  #text = identity
  #line = identity
  /** For each open layer, true if it is shown. */
  #layers: boolean[] = []
  #isAfterSpace = false

  readonly actions: Record<string, (...given: never[]) => void> = {
    save: () => this.#saved.push(this.#state),
    restore: () => this.#restore(),
    transform: (...matrix: number[]) => this.#set({ matrix: times(this.#state.matrix, matrix) }),
    paintFormXObjectBegin: (matrix: Matrix | null) => {
      this.#saved.push(this.#state)
      this.#set({ matrix: times(this.#state.matrix, matrix ?? identity) })
    },
    paintFormXObjectEnd: () => this.#restore(),
    beginText: () => this.#begin(identity),
    setTextMatrix: (matrix: Matrix) => this.#begin(matrix),
    moveText: (x: number, y: number) => this.#move(x, y),
    setLeadingMoveText: (x: number, y: number) => {
      this.#set({ leading: -y })
      this.#move(x, y)
    },
    nextLine: () => this.#move(0, -this.#state.leading),
    setLeading: (leading: number) => this.#set({ leading }),
    setFont: (fontName: string, size: number) => this.#set({ fontName, size }),
    setCharSpacing: (spacing: number) => this.#set({ spacing }),
    setWordSpacing: (wordSpacing: number) => this.#set({ wordSpacing }),
    setHScale: (percent: number) => this.#set({ scale: percent / 100 }),
    setTextRise: (rise: number) => this.#set({ rise }),
    setGState: (entries: [name: string, value: [string, number]][]) => {
      const [fontName, size] = entries.find(([name]) => name === 'Font')?.[1] ?? []
      if (fontName !== undefined && size !== undefined) this.#set({ fontName, size })
    },
    beginMarkedContent: () => this.#layers.push(true),
    beginMarkedContentProps: (tag: string, layer: unknown) =>
      this.#layers.push(tag !== 'OC' || this.#page.isShown(layer)),
    endMarkedContent: () => this.#layers.pop(),
    showText: (glyphs: (Glyph | number)[]) => this.#show(glyphs),
  }

  constructor(page: PageToRead) {
    this.#page = page
  }

  #set(change: Partial<typeof initialState>): void {
    this.#state = { ...this.#state, ...change }
  }

  #restore(): void {
    this.#state = this.#saved.pop() ?? this.#state
  }

  #begin(matrix: Matrix): void {
    this.#text = this.#line = matrix
  }

  #move(x: number, y: number): void {
    this.#begin(times(this.#line, [1, 0, 0, 1, x, y]))
  }

  #show(glyphs: readonly (Glyph | number)[]): void {
    const { fontName, size, spacing, wordSpacing } = this.#state
    const { vertical: isVertical = false, fontMatrix } = this.#page.fontOf(fontName)
    const scale = (fontMatrix?.[0] ?? 0.001) * size
    for (const glyph of glyphs) {
      if (typeof glyph === 'number') {
        this.#advance((glyph * size) / (isVertical ? 1000 : -1000), isVertical)
        continue
      }
      const place = this.#place()
      this.#advance((isVertical ? -(glyph.vmetric?.[0] ?? -1000) : glyph.width) * scale, isVertical)
      if (/^\s*$/.test(glyph.unicode)) this.#isAfterSpace = true
      else if (this.#isSeen(glyph, place)) this.#put(asSeen(glyph.unicode), place, isVertical)
      const extra = spacing + (glyph.isSpace ? wordSpacing : 0)
      this.#advance(isVertical ? -extra : extra, isVertical)
    }
  }

  #isSeen({ unicode }: Glyph, [, , , , x = 0, y = 0]: Matrix): boolean {
    const [left = 0, bottom = 0, right = 0, top = 0] = this.#page.view
    const isOnPage = x >= left && x <= right && y >= bottom && y <= top
    if (!isOnPage || /^\p{Cf}$/u.test(unicode)) return false
    const isHidden = this.#layers.includes(false)
    this.isHidden ||= isHidden
    return !isHidden
  }

  /** Returns the matrix from a sign of the size 1 to the page. */
  #place(): Matrix {
    const { matrix, size, scale, rise } = this.#state
    return times(times(matrix, this.#text), [size * scale, 0, 0, size, 0, rise])
  }

  #advance(length: number, isVertical: boolean): void {
    const [x, y] = isVertical ? [0, -length] : [length * this.#state.scale, 0]
    this.#text = times(this.#text, [1, 0, 0, 1, x, y])
  }

  #put(sign: string, place: Matrix, isVertical: boolean): void {
    const [a = 1, b = 0, c = 0, d = 1] = place
    const size = isVertical ? Math.hypot(a, b) : Math.hypot(c, d)
    const angle = isVertical ? Math.atan2(-d, -c) : Math.atan2(b, a)
    const { fontName } = this.#state
    const isMark = /^\p{M}+$/u.test(sign)
    const last = this.items.at(-1)
    const [gap, shift] = last === undefined ? [0, 0] : distance(last.next, place, angle)
    const goesOn =
      last?.fontName === fontName &&
      Math.abs(size - (isVertical ? last.width : last.height)) < size / 100 &&
      Math.abs(shift) < size * spaceGap &&
      gap <= size * widestGap &&
      (gap > size * overlap || isMark)
    const item: OpenItem = goesOn
      ? last
      : { str: '', transform: [...place], width: 0, height: 0, fontName, signs: [], next: place }
    if (!goesOn) this.items.push(item)
    else if (!isMark && (this.#isAfterSpace || gap > size * spaceGap)) item.signs.push(' ')
    this.#isAfterSpace = false
    // A mark on the last drawn letter goes to its left, so that it follows in a line from the right.
    const isOnLast = isMark && gap < -size / 20 && isFromRight(item.signs.at(-1) ?? '')
    item.signs.splice(isOnLast ? -1 : item.signs.length, 0, sign)
    if (!isOnLast) item.next = this.#place()
    const [length] = distance(item.transform, item.next, angle)
    Object.assign(item, isVertical ? { width: size, height: length } : { width: length, height: size })
  }
}

/** Returns the distances along a line of that direction, and down from it. */
function distance(from: Matrix, to: Matrix, angle: number): [along: number, down: number] {
  const [x, y] = [(to[4] ?? 0) - (from[4] ?? 0), (to[5] ?? 0) - (from[5] ?? 0)]
  return [x * Math.cos(angle) + y * Math.sin(angle), x * Math.sin(angle) - y * Math.cos(angle)]
}

/** Returns the letters of a ligature, in visual order. */
function asSeen(unicode: string): string {
  const letters = unicode.replace(presentationForms, form => normalizedText(form, 'NFKC'))
  return isFromRight(letters) ? logicalText(letters, false) : letters
}

function times([a = 1, b = 0, c = 0, d = 1, x = 0, y = 0]: Matrix, other: Matrix): Matrix {
  const [e = 1, f = 0, g = 0, h = 1, right = 0, up = 0] = other
  return [
    a * e + c * f,
    b * e + d * f,
    a * g + c * h,
    b * g + d * h,
    a * right + c * up + x,
    b * right + d * up + y,
  ]
}
