/** Runs in documents like `readers.ts`, so it must use nothing from this module. */

interface PageElement {
  tagName: string
  id: string
  innerText?: string
  parentElement: PageElement | null
  closest(selector: string): PageElement | null
  querySelector(selector: string): PageElement | null
  querySelectorAll(selector: string): Iterable<PageElement>
  getAttribute(name: string): string | null
  getBoundingClientRect(): { width: number; height: number }
  checkVisibility(options: { opacityProperty: boolean; visibilityProperty: boolean }): boolean
}

declare const document: { body: PageElement | null }

/** Signs of placeholders, see `documents/parsing/html/placeholders.ts`: expressions and selectors. */
export interface PlaceholderSigns {
  loadingLine: string
  longestLine: number
  busyName: string
  mounts: string
  besides: string
  someText: number
}

export interface PageState {
  /** Hashes of the text, and of the text without digits, because clocks and counters change these. */
  text: string
  words: string
  /** The placeholder that the page shows instead of content; null if it has content. */
  placeholder: string | null
}

export function settling(_root: unknown, signs: PlaceholderSigns): PageState {
  /** Max characters that are compared. */
  const compared = 200_000
  /** Max elements that are read. */
  const looked = 5000
  const { body } = document
  const textOf = (element: PageElement | null) => (element?.innerText ?? '').trim()
  const text = textOf(body)
  const hashOf = (value: string) => {
    let hash = 0
    for (let at = 0; at < value.length && at < compared; at += 1)
      hash = (Math.imul(hash, 31) + value.charCodeAt(at)) | 0
    return `${value.length} ${hash}`
  }
  const isVisible = (element: PageElement) => {
    const { width, height } = element.getBoundingClientRect()
    return width * height > 0 && element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  }
  const loadingLine = new RegExp(signs.loadingLine, 'u')
  const loadingIn = (value: string) =>
    value
      .split(/[\n\t]+/)
      .map(line => line.trim())
      .find(line => line.length <= signs.longestLine && loadingLine.test(line.toLowerCase()))
  const busyName = new RegExp(signs.busyName, 's')
  const isBusy = (element: PageElement) => {
    if (element.getAttribute('aria-busy') === 'true') return isVisible(element)
    const names = `${element.getAttribute('class') ?? ''} ${element.id}`.slice(0, 500)
    if (!busyName.test(names) || element.tagName === 'IMG' || element.querySelector('img')) return false
    const said = textOf(element)
    return (!/[\p{L}\p{N}]/u.test(said) || loadingIn(said) !== undefined) && isVisible(element)
  }
  const isEmptyMount = (element: PageElement): boolean =>
    textOf(element) === '' && element.querySelector('img, canvas, video, iframe') === null

  /** Returns the number of characters that belong to this page, not to its site. */
  const ownLength = (within: PageElement) => {
    let length = text.length
    for (const element of within.querySelectorAll(signs.besides))
      if (!element.parentElement?.closest(signs.besides)) length -= textOf(element).length
    return length
  }
  const placeholderIn = (within: PageElement) => {
    if (text === '') return 'no text'
    if (ownLength(within) >= signs.someText) return null
    const line = loadingIn(text)
    if (line !== undefined) return `only "${line}"`
    if (Array.from(within.querySelectorAll(signs.mounts)).some(isEmptyMount)) return 'only an empty frame'
    const named = Array.from(within.querySelectorAll('[class], [id], [aria-busy]'))
    return named.slice(0, looked).some(isBusy) ? 'only a skeleton or a spinner' : null
  }
  return {
    text: hashOf(text),
    words: hashOf(text.replace(/\d+/g, '')),
    placeholder: body === null ? 'no text' : placeholderIn(body),
  }
}
