import type { PageElement, PageRoot } from './page-element.ts'

/**
 * A selector engine that runs in documents like `readers.ts`, so it must use nothing from this module.
 * Playwright describes the element that it finds.
 */

declare const document: { body: PageElement | null; createElement(name: string): PageElement }
declare const innerHeight: number

export interface NearestOptions {
  /** Max total weight: an element counts as one, a field as eight, and `characters` of text as one. */
  weight: number
  characters: number
  /** Only elements that contain this text, in lower case; all if it is empty. */
  phrase: string
}

export function createNearest() {
  /** Yields all elements within, in document order, including open shadow roots. */
  function* within(root: PageElement | PageRoot): Generator<PageElement> {
    if ('shadowRoot' in root && root.shadowRoot !== null) yield* within(root.shadowRoot)
    for (const element of root.querySelectorAll('*')) {
      yield element
      if (element.shadowRoot !== null) yield* within(element.shadowRoot)
    }
  }

  function weightOf(root: PageElement, characters: number): number {
    // The labels of a field are searched in the whole document.
    const own = ({ value }: PageElement) => (typeof value === 'string' ? 8 + value.length / characters : 1)
    let weight = own(root) + root.textContent.length / characters
    for (const element of within(root)) weight += own(element)
    return weight
  }

  const distanceOf = (element: PageElement) => {
    const { top, bottom } = element.getBoundingClientRect()
    return Math.max(0, top - innerHeight, -bottom)
  }

  const holds = (element: PageElement, phrase: string) =>
    [element.textContent, element.outerHTML].some(text => text.toLowerCase().includes(phrase))

  /** Returns the elements nearest to the window, in document order; large ones by parts; no frames. */
  function pick(root: PageElement, { weight, characters, phrase }: NearestOptions): PageElement[] {
    const picked = new Set<PageElement>()
    let left = weight
    function take(element: PageElement): void {
      if (left <= 0 || /^i?frame$/i.test(element.tagName)) return
      const needed = weightOf(element, characters)
      const isWhole = needed <= left && element.querySelector('iframe, frame') === null
      if (phrase !== '' && (isWhole || element.shadowRoot === null) && !holds(element, phrase)) return
      if (isWhole) {
        picked.add(element)
        left -= needed
        return
      }
      // A form's `children` can be a field of that name.
      const parts = [...element.querySelectorAll(':scope > *'), ...(element.shadowRoot?.children ?? [])]
      const placed = parts.map(part => ({ part, distance: distanceOf(part) }))
      for (const { part } of placed.toSorted((one, other) => one.distance - other.distance)) take(part)
    }
    take(root)
    return [root, ...within(root)].filter(element => picked.has(element))
  }

  return {
    queryAll(root: PageElement | { body: PageElement | null }, body: string) {
      const element = 'body' in root ? root.body : root
      const picked = element === null ? [] : pick(element, JSON.parse(decodeURIComponent(body)))
      // The slot is in no document; its assigned content is the picked elements.
      const slot = document.createElement('slot')
      slot.assignedNodes = () => picked
      return [slot]
    },
  }
}
