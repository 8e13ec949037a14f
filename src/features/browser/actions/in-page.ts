/**
 * Functions that run in pages, and so may use nothing from here but their argument. Of the page's own types just the parts
 * that they use are declared.
 */

interface PageElement {
  type?: string
  value?: unknown
  shadowRoot: PageRoot | null
  parentElement: PageElement | null
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
  body: { innerText: string } | null
  documentElement: PageElement
  scrollingElement: PageElement | null
  elementFromPoint(x: number, y: number): PageElement | null
}
declare const innerWidth: number
declare const innerHeight: number
declare function getComputedStyle(element: PageElement): { overflowX: string; overflowY: string }

/** Of the whole page, in CSS pixels. */
export function pageSize(): { width: number; height: number } {
  const { scrollWidth, scrollHeight } = document.documentElement
  return { width: scrollWidth, height: scrollHeight }
}

/** Characters that can be seen. */
export function textLength(): number {
  return document.body?.innerText.trim().length ?? 0
}

/** What stands in a field now, not what it began with. */
export function currentValue(element: unknown): string | null {
  const { value, getAttribute } = element as PageElement
  return value === undefined ? getAttribute.call(element, 'value') : String(value)
}

/** JSON; null for what is too long, undefined for what has none. */
export function toJson(value: unknown, characters: number): string | null | undefined {
  const text = JSON.stringify(value, (_name, inner) => (typeof inner === 'bigint' ? String(inner) : inner))
  return text !== undefined && text.length > characters ? null : text
}

export function matchesSelector(element: unknown, selector: string): boolean {
  return (element as PageElement).matches(selector)
}

/** The values of the fields that the selector finds in the document and its open shadow roots. */
export function fieldValues(selector: string): string[] {
  const values: string[] = []
  const roots: PageRoot[] = [document]
  for (const root of roots)
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot !== null) roots.push(element.shadowRoot)
      if (element.matches(selector) && element.value) values.push(String(element.value).slice(0, 1000))
    }
  return values
}

interface Distance {
  x: number
  y: number
}

/** Scrolls what lies in the middle of the window, or the whole page; tells how far. The sign of one of x and y is the direction. */
export function scrollBy({ x, y, amount }: Distance & { amount: number | undefined }): Distance {
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
}
