/**
 * Functions that run in documents, in an isolated world: replaced built-in functions of the page do not
 * affect them. They must use nothing from this module, except each other's results as arguments. Document
 * types declare only the parts in use. Each function limits its result.
 */

import type { PageElement, PageRoot } from './page-element.ts'
import { settling } from './settling.ts'

declare const document: PageRoot & {
  title: string
  body: PageElement | null
  documentElement: PageElement
  scrollingElement: PageElement | null
  activeElement: PageElement | null
  querySelector(selector: string): PageElement | null
  createElement(name: 'canvas'): { getContext(kind: '2d'): { fillStyle: string } }
  getSelection(): object | null
}
declare const innerWidth: number
declare const innerHeight: number
declare function getComputedStyle(element: PageElement): { overflowX: string; overflowY: string }

interface Distance {
  x: number
  y: number
}

/** Text of a page; `truncated` if it was cut. */
export interface PageText {
  text: string | null
  truncated: boolean
}

export const readers = {
  /** Returns the title and icon of a tab; an icon over the limit is omitted. */
  facts(_root: unknown, { title, favicon }: { title: number; favicon: number }) {
    const icon = document.querySelector('link[rel~="icon" i][href]')?.href ?? ''
    return {
      title: String(document.title).slice(0, title).toWellFormed(),
      favicon: icon.length > favicon ? '' : icon,
    }
  },

  /** Returns the size of the whole page in CSS pixels. */
  size() {
    const { scrollWidth, scrollHeight } = document.documentElement
    return { width: scrollWidth, height: scrollHeight }
  },

  /** Returns the size of the document's outline: an element counts as one, and so do `characters` of text. */
  weight(_root: unknown, characters: number): number {
    let weight = 0
    const roots: PageRoot[] = [document]
    for (const root of roots)
      for (const element of root.querySelectorAll('*')) {
        weight += 1 + String(element.value ?? '').length / characters
        if (element.shadowRoot !== null) roots.push(element.shadowRoot)
      }
    return weight + (document.body?.textContent.length ?? 0) / characters
  },

  settling,

  /** Returns the text, attribute or value of an element, cut to the max bytes (UTF-8). */
  text(root: unknown, { attribute, bytes }: { attribute: string; bytes: number }): PageText {
    const element = root as PageElement
    const kinds = new Map<string, () => unknown>([
      ['text', () => (element.innerText ?? element.textContent).trim()],
      ['html', () => element.innerHTML],
      ['document', () => `<!doctype html>${element.outerHTML}`],
      // The current value of a field, not its initial one.
      ['value', () => element.value],
    ])
    const found = kinds.get(attribute)?.() ?? element.getAttribute(attribute)
    const text = found === null ? null : String(found)
    const { read: fitting } = new TextEncoder().encodeInto(text ?? '', new Uint8Array(bytes))
    return { text: text?.slice(0, fitting) ?? null, truncated: fitting < (text?.length ?? 0) }
  },

  /** Returns values of fields, also in open shadow roots: matches of the selector, or all changed. */
  fieldValues(_root: unknown, { selector, changed, values: most, characters }: FieldLimits) {
    const values: string[] = []
    const roots: PageRoot[] = [document]
    for (const root of roots)
      for (const element of root.querySelectorAll('*')) {
        if (element.shadowRoot !== null) roots.push(element.shadowRoot)
        const { value, defaultValue = value } = element
        const isMeant = value && ((changed && value !== defaultValue) || element.matches(selector))
        if (isMeant) values.push(String(value).slice(0, characters))
        if (values.length >= 2 * most) values.splice(0, most)
      }
    return values.slice(-most)
  },

  /** Returns the selected text, in a field or on the page. */
  selection(_root: unknown, characters: number): string {
    const field = document.activeElement
    const isSecret = field?.type === 'password'
    const ofField = isSecret
      ? ''
      : String(field?.value ?? '').slice(field?.selectionStart ?? 0, field?.selectionEnd ?? 0)
    return (ofField || String(document.getSelection() ?? '')).slice(0, characters)
  },

  /** Returns a point of a label outside of its links, from its corner; null if its middle can be clicked. */
  clearPoint(root: unknown): Distance | null {
    const label = root as PageElement
    const others = 'a[href], button'
    if (!label.matches('label') || label.querySelector(others) === null) return null
    const { x, y, width, height } = label.getBoundingClientRect()
    const shares = [0.02, 0.2, 0.4, 0.6, 0.8, 0.98]
    const points = shares.flatMap(down => shares.map(across => ({ x: across * width, y: down * height })))
    const isClear = (point: Distance) => {
      const hit = document.elementFromPoint(x + point.x, y + point.y)
      return hit !== null && label.contains(hit) && hit.closest(others) === null
    }
    return points.find(isClear) ?? null
  },

  /** Returns the type and limits of a field, and its language. */
  field(root: unknown) {
    const element = root as PageElement
    let language: string | null = null
    for (
      let one: PageElement | undefined = element;
      one !== undefined && language === null;
      one = one.getRootNode().host
    )
      language = one.closest('[lang]')?.getAttribute('lang') ?? null
    const [min, max, step] = ['min', 'max', 'step'].map(name => element.getAttribute(name)?.slice(0, 50))
    return {
      type: element.matches('input') ? String(element.type) : '',
      language: language?.slice(0, 50),
      min,
      max,
      step,
    }
  },

  /** Returns the values that the field accepts unchanged: other values name no day, or are out of range. */
  keeps(root: unknown, values: string[]): string[] {
    const copy = (root as PageElement).cloneNode()
    return values.filter(value => {
      copy.value = value
      return copy.value === value
    })
  },

  /** Returns a colour as `#rrggbb`; null for another text or a transparent colour. */
  colour(_root: unknown, text: string): string | null {
    const paint = document.createElement('canvas').getContext('2d')
    const painted = ['#000000', '#ffffff'].map(before => {
      paint.fillStyle = before
      paint.fillStyle = text
      return paint.fillStyle
    })
    return painted[0] === painted[1] && /^#[\da-f]{6}$/.test(painted[0] ?? '') ? (painted[0] ?? null) : null
  },

  /** Returns the texts of a field's options, with their values if different. */
  options(root: unknown, most: number): string[] {
    const options = [...((root as PageElement).options ?? [])].slice(0, most)
    return options.map(({ value, label = '' }) => {
      const [text, own] = [label, String(value)].map(one => one.slice(0, 80).toWellFormed())
      return text === own ? JSON.stringify(own) : `${JSON.stringify(text)} (${own})`
    })
  },

  /** Returns the point for the wheel in the window: its middle, or the only place that can scroll. */
  wheelPoint(_root: unknown, { x, y }: Distance): Distance {
    const middle = { x: innerWidth / 2, y: innerHeight / 2 }
    const root = document.scrollingElement ?? document.documentElement
    const [position, whole, shown, overflow] =
      y === 0
        ? (['scrollLeft', 'scrollWidth', 'clientWidth', 'overflowX'] as const)
        : (['scrollTop', 'scrollHeight', 'clientHeight', 'overflowY'] as const)
    const canScroll = (element: PageElement) => {
      const room = x + y > 0 ? element[whole] - element[shown] - element[position] : element[position]
      const style = getComputedStyle(element)[overflow]
      return room >= 1 && (element === root ? style !== 'hidden' : /auto|scroll/.test(style))
    }
    function* around(element: PageElement | null): Generator<PageElement> {
      if (element === null) return
      yield element
      yield* around(element.assignedSlot ?? element.parentElement ?? element.getRootNode().host ?? null)
    }
    function* scrolling(within: PageRoot): Generator<PageElement> {
      for (const element of within.querySelectorAll('*')) {
        if (element.shadowRoot !== null) yield* scrolling(element.shadowRoot)
        if (element !== root && canScroll(element)) yield element
      }
    }
    function under(within: PageRoot): PageElement | null {
      const hit = within.elementFromPoint(middle.x, middle.y)
      return (hit?.shadowRoot && under(hit.shadowRoot)) || hit
    }
    if (around(under(document)).some(element => canScroll(element) || element.matches('iframe')))
      return middle
    const parts = scrolling(document).map(element => {
      const box = element.getBoundingClientRect()
      const [left, right] = [Math.max(box.x, 0), Math.min(box.x + box.width, innerWidth)]
      const [top, bottom] = [Math.max(box.y, 0), Math.min(box.y + box.height, innerHeight)]
      const area = Math.max(0, right - left) * Math.max(0, bottom - top)
      return { x: (left + right) / 2, y: (top + bottom) / 2, area }
    })
    const largest = parts.reduce((most, one) => (one.area > most.area ? one : most), { ...middle, area: 0 })
    return { x: largest.x, y: largest.y }
  },

  /** Returns the max movement of scrollable elements along each axis after the noted positions. */
  scrolled(_root: unknown, isStart: boolean): Distance {
    const world = globalThis as { positions?: Map<PageElement, Distance> }
    const moved = { x: 0, y: 0 }
    const further = (one: number, other: number) => (Math.abs(one) > Math.abs(other) ? one : other)
    if (!isStart)
      for (const [element, before] of world.positions ?? []) {
        moved.x = further(element.scrollLeft - before.x, moved.x)
        moved.y = further(element.scrollTop - before.y, moved.y)
      }
    if (!isStart) return moved
    world.positions = new Map()
    const roots: PageRoot[] = [document]
    for (const root of roots)
      for (const element of root.querySelectorAll('*')) {
        if (element.shadowRoot !== null) roots.push(element.shadowRoot)
        const { scrollLeft: x, scrollTop: y, scrollWidth, scrollHeight, clientWidth, clientHeight } = element
        if (scrollWidth > clientWidth || scrollHeight > clientHeight) world.positions.set(element, { x, y })
      }
    return moved
  },
}

interface FieldLimits {
  selector: string
  changed: boolean
  values: number
  characters: number
}
