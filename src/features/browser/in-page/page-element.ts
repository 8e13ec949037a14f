/** Document types with only the parts that functions in documents use. */

export interface PageElement extends PageParent {
  /** The reference from Playwright's last description. */
  _ariaRef?: { ref: string }
  /** The number from `collectUsable`. */
  usableNumber?: number
  tagName: string
  id: string
  tabIndex: number
  isContentEditable: boolean
  open?: boolean
  checked?: boolean
  type?: string
  value?: unknown
  defaultValue?: unknown
  href?: string
  label?: string
  control?: PageElement | null
  labels?: Iterable<PageElement> | null
  options?: Iterable<PageElement>
  innerText?: string
  innerHTML: string
  outerHTML: string
  shadowRoot: PageRoot | null
  parentElement: PageElement | null
  assignedSlot: PageElement | null
  selectionStart?: number | null
  selectionEnd?: number | null
  scrollLeft: number
  scrollTop: number
  scrollWidth: number
  scrollHeight: number
  clientWidth: number
  clientHeight: number
  assignedNodes?: () => PageElement[]
  matches(selector: string): boolean
  closest(selector: string): PageElement | null
  contains(other: PageElement): boolean
  hasAttribute(name: string): boolean
  getAttribute(name: string): string | null
  cloneNode(): PageElement
  checkVisibility(options: { visibilityProperty: true }): boolean
  scrollIntoView(options: { block: 'nearest'; inline: 'nearest'; behavior: 'instant' }): void
  getRootNode(): PageRoot & { host?: PageElement }
  getBoundingClientRect(): Record<'x' | 'y' | 'width' | 'height' | 'top' | 'bottom', number>
}

interface PageParent {
  textContent: string
  children: Iterable<PageElement> & { length: number; 0?: PageElement }
  querySelector(selector: string): PageElement | null
  querySelectorAll(selector: string): Iterable<PageElement> & { length: number }
}

export interface PageRoot extends PageParent {
  elementFromPoint(x: number, y: number): PageElement | null
}
