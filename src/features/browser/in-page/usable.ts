import type { PageElement, PageRoot } from './page-element.ts'

/** Runs in documents in the world of Playwright's functions, so it must use nothing from this module. */

declare const document: PageRoot & { documentElement: PageElement; body: PageElement | null }
declare const HTMLFormElement: new () => { noValidate: boolean }
declare function getComputedStyle(element: PageElement): { cursor: string; pointerEvents: string }

export interface UsableLimits {
  /** Max elements that are read, and that are returned. */
  elements: number
  found: number
  /** Max characters of a name. */
  characters: number
  /** A handler on an element with more descendants is assumed to serve these. */
  descendants: number
}

/** An element that a person can use although its role does not show it. */
export interface Usable {
  /** References of the element, or else of its only child, and so on. */
  refs: string[]
  /** References of the surrounding elements, the nearest first. */
  around: string[]
  number: number
  role: string
  name: string
  checked: boolean
  expanded: boolean
  box: { x: number; y: number; width: number; height: number }
}

/** Returns functions that decide the use of elements. */
export function createJudge(descendants: number, handling: readonly PageElement[]) {
  const native = 'a[href], button, input, select, textarea, option'
  const handled = new Set(handling)
  const parentOf = (element: PageElement) => element.parentElement ?? element.getRootNode().host ?? null
  const isPointer = (element: PageElement | null) =>
    element !== null && getComputedStyle(element).cursor === 'pointer'
  const isSeen = (element: PageElement) => {
    const { width, height } = element.getBoundingClientRect()
    return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true })
  }
  const isClickable = (element: PageElement) =>
    element.closest(native) === null &&
    element !== document.body &&
    ((handled.has(element) && element.querySelectorAll('*').length <= descendants) ||
      (element.hasAttribute('tabindex') && element.tabIndex >= 0) ||
      (isPointer(element) && !isPointer(parentOf(element))))

  return {
    parentOf,
    isUsable: (element: PageElement) => isSeen(element) && getComputedStyle(element).pointerEvents !== 'none',
    /** Returns undefined for an element without a use, or whose role shows the use. */
    roleOf(element: PageElement): string | undefined {
      const { control } = element
      if (element.isContentEditable) return parentOf(element)?.isContentEditable ? undefined : 'textbox'
      if (element.tagName === 'SUMMARY') return 'summary'
      if (control && !isSeen(control))
        return control.type === 'file' ? 'button' : (control.type ?? 'clickable')
      return element !== document.documentElement && isClickable(element) ? 'clickable' : undefined
    },
  }
}

/** Returns the usable elements in document order; large documents in part. */
export function collectUsable(limits: UsableLimits, judge: ReturnType<typeof createJudge>): Usable[] {
  const { parentOf, isUsable, roleOf } = judge
  const short = (text: string | null | undefined) =>
    (text ?? '')
      .slice(0, 4 * limits.characters)
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, limits.characters)
      .toWellFormed()
  const nameOf = (element: PageElement) =>
    ['aria-label', 'title', 'alt'].map(name => short(element.getAttribute(name))).find(Boolean) ||
    short(element.textContent) ||
    short(element.id || element.getAttribute('class'))
  const refOf = ({ _ariaRef }: PageElement) => (_ariaRef === undefined ? [] : [_ariaRef.ref])
  const onlyChild = ({ children: { length, 0: first }, textContent }: PageElement) =>
    length === 1 && short(textContent) === short(first?.textContent) ? first : undefined
  const world = globalThis as { usableNumber?: number }
  function describe(element: PageElement, role: string): Usable {
    const [refs, around]: [string[], string[]] = [[], []]
    for (let one: PageElement | undefined = element; one && refs.length < 10; one = onlyChild(one))
      refs.push(...refOf(one))
    for (let one = parentOf(element); one !== null && around.length < 30; one = parentOf(one))
      around.push(...refOf(one))
    const { x, y, width, height } = element.getBoundingClientRect()
    world.usableNumber = (world.usableNumber ?? 0) + 1
    element.usableNumber ??= world.usableNumber
    return {
      refs,
      around,
      role,
      number: element.usableNumber,
      name: nameOf(element),
      box: { x: Math.round(x), y: Math.round(y), width: Math.round(width), height: Math.round(height) },
      expanded: role === 'summary' && element.parentElement?.open === true,
      checked: element.control?.checked === true,
    }
  }
  const found: Usable[] = []
  const roots: PageRoot[] = [document]
  let looked = 0
  for (const root of roots)
    for (const element of root.querySelectorAll('*')) {
      looked += 1
      if (looked > limits.elements || found.length === limits.found) return found
      // The names of a form's fields replace the form's own properties.
      if (element instanceof HTMLFormElement) continue
      if (element.shadowRoot !== null) roots.push(element.shadowRoot)
      const role = roleOf(element)
      if (role !== undefined && isUsable(element)) found.push(describe(element, role))
    }
  return found
}
