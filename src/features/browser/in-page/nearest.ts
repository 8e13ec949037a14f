import type { PageElement, PageRoot } from './page-element.ts'

/**
 * Runs in documents as `readers.ts` does, and so may use nothing from here. It is an engine of selectors: Playwright takes what it
 * finds for the element that is to be described.
 */

declare const document: { body: PageElement | null; createElement(name: string): PageElement }
declare const innerHeight: number

export interface NearestOptions {
  /** How much is looked at: an element counts as one, a field as eight, and so many characters of text as one. */
  weight: number
  characters: number
  /** Only elements that hold this text, in lower case; all if it is empty. */
  phrase: string
}

export function createNearest() {
  /** All elements within, in the order of the document, open shadow roots included. */
  function* within(root: PageElement | PageRoot): Generator<PageElement> {
    if ('shadowRoot' in root && root.shadowRoot !== null) yield* within(root.shadowRoot)
    for (const element of root.querySelectorAll('*')) {
      yield element
      if (element.shadowRoot !== null) yield* within(element.shadowRoot)
    }
  }

  function weightOf(root: PageElement, characters: number): number {
    // The labels of a field are looked for in the whole document.
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

  /** The elements nearest to the window, in the order of the document; large ones by their parts. Frames are left out. */
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
      // A form has a field of the name `children` in the place of its children.
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
      // An element in no document, whose content is said to be what was picked.
      const slot = document.createElement('slot')
      slot.assignedNodes = () => picked
      return [slot]
    },
  }
}
