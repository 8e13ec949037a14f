/**
 * Functions that run in documents, in a world of their own: what the scripts of the page put in the place of built-in functions
 * does not reach them. They may use nothing from here but each other's results through their arguments. Of the document's own
 * types just the parts that they use are declared. Each bounds what it returns.
 */

import { settling } from './settling.ts'

interface PageElement {
  type?: string
  value?: unknown
  defaultValue?: unknown
  href?: string
  innerText?: string
  textContent: string
  innerHTML: string
  outerHTML: string
  shadowRoot: PageRoot | null
  parentElement: PageElement | null
  selectionStart?: number | null
  selectionEnd?: number | null
  scrollLeft: number
  scrollTop: number
  scrollWidth: number
  scrollHeight: number
  clientWidth: number
  clientHeight: number
  matches(selector: string): boolean
  getAttribute(name: string): string | null
  scrollBy(by: { left: number; top: number; behavior: 'instant' }): void
}

interface PageRoot {
  querySelectorAll(selector: string): Iterable<PageElement>
}

declare const document: PageRoot & {
  title: string
  body: PageElement | null
  documentElement: PageElement
  scrollingElement: PageElement | null
  activeElement: PageElement | null
  querySelector(selector: string): PageElement | null
  elementFromPoint(x: number, y: number): PageElement | null
  getSelection(): object | null
}
declare const innerWidth: number
declare const innerHeight: number
declare function getComputedStyle(element: PageElement): { overflowX: string; overflowY: string }

interface Distance {
  x: number
  y: number
}

/** Text of a page; `truncated` if more of it was there. */
export interface PageText {
  text: string | null
  truncated: boolean
}

export const readers = {
  /** Title and icon of a tab; an icon that is longer than shown is none. */
  facts(_root: unknown, { title, favicon }: { title: number; favicon: number }) {
    const icon = document.querySelector('link[rel~="icon" i][href]')?.href ?? ''
    return {
      title: String(document.title).slice(0, title).toWellFormed(),
      favicon: icon.length > favicon ? '' : icon,
    }
  },

  /** Of the whole page, in CSS pixels. */
  size() {
    const { scrollWidth, scrollHeight } = document.documentElement
    return { width: scrollWidth, height: scrollHeight }
  },

  /** How much an outline of the document would have to say: an element counts as one, and so do so many characters. */
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

  /** The text, attribute or value of an element, cut to so many bytes of UTF-8. */
  text(root: unknown, { attribute, bytes }: { attribute: string; bytes: number }): PageText {
    const element = root as PageElement
    const kinds = new Map<string, () => unknown>([
      ['text', () => (element.innerText ?? element.textContent).trim()],
      ['html', () => element.innerHTML],
      ['document', () => `<!doctype html>${element.outerHTML}`],
      // In a field now, not what it began with.
      ['value', () => element.value],
    ])
    const found = kinds.get(attribute)?.() ?? element.getAttribute(attribute)
    const text = found === null ? null : String(found)
    const { read: fitting } = new TextEncoder().encodeInto(text ?? '', new Uint8Array(bytes))
    return { text: text?.slice(0, fitting) ?? null, truncated: fitting < (text?.length ?? 0) }
  },

  /** The values of fields in the document and its open shadow roots: those that the selector finds, or all that were changed. */
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

  /** The selected text, in a field or on the page. */
  selection(_root: unknown, characters: number): string {
    const field = document.activeElement
    const isSecret = field?.type === 'password'
    const ofField = isSecret
      ? ''
      : String(field?.value ?? '').slice(field?.selectionStart ?? 0, field?.selectionEnd ?? 0)
    return (ofField || String(document.getSelection() ?? '')).slice(0, characters)
  },

  /** Scrolls what lies in the middle of the window, or the whole page; returns how far. The sign of one of x and y is the direction. */
  scrollBy(_root: unknown, { x, y, amount }: Distance & { amount: number | undefined }): Distance {
    const canScroll = (element: PageElement) => {
      const { overflowX, overflowY } = getComputedStyle(element)
      return y === 0
        ? element.scrollWidth > element.clientWidth && /auto|scroll/.test(overflowX)
        : element.scrollHeight > element.clientHeight && /auto|scroll/.test(overflowY)
    }
    let target = document.elementFromPoint(innerWidth / 2, innerHeight / 2)
    while (target !== null && !canScroll(target)) target = target.parentElement
    target ??= document.scrollingElement ?? document.documentElement
    const { scrollLeft, scrollTop } = target
    const distance = amount ?? 0.8 * (y === 0 ? innerWidth : innerHeight)
    target.scrollBy({ left: x * distance, top: y * distance, behavior: 'instant' })
    return { x: target.scrollLeft - scrollLeft, y: target.scrollTop - scrollTop }
  },
}

interface FieldLimits {
  selector: string
  changed: boolean
  values: number
  characters: number
}
