import type { PageElement, PageRoot } from './page-element.ts'

/** Selector engines. They run in documents like `nearest.ts`, so they must use nothing from this module. */

/** Finds elements by the numbers of `collectUsable`. */
export function createNumbered() {
  return {
    queryAll(root: PageElement, number: string) {
      const found: PageElement[] = []
      const roots: (PageElement | PageRoot)[] = [root, root.shadowRoot ?? []].flat()
      for (const one of roots)
        for (const element of one.querySelectorAll('*')) {
          if (element.usableNumber === Number(number)) found.push(element)
          if (element.shadowRoot !== null) roots.push(element.shadowRoot)
        }
      return found
    },
  }
}

export function createClickTarget() {
  const isSeen = (element: PageElement) => {
    const { width, height } = element.getBoundingClientRect()
    return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true })
  }

  /** Returns the top element at the middle of an element. */
  function hitOf(element: PageElement): PageElement | null {
    element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' })
    const { x, y, width, height } = element.getBoundingClientRect()
    return element.getRootNode().elementFromPoint(x + width / 2, y + height / 2)
  }

  return {
    /** Returns the element; for a control that is hidden, empty or covered, the element to click instead. */
    queryAll(root: PageElement) {
      if (!root.matches('input[type=checkbox i], input[type=radio i], input[type=file i]')) return [root]
      const hit = isSeen(root) ? hitOf(root) : null
      if (hit !== null && (hit === root || root.contains(hit))) return [root]
      const labels = [...(root.labels ?? [])].filter(isSeen)
      const covering = hit !== null && root.parentElement?.contains(hit) ? [hit] : []
      const drawn = [...covering, ...labels].find(element => element.closest('a[href], button') === null)
      return [drawn ?? root]
    },
  }
}
