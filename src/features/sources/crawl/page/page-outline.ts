/** Statements of a page about other pages and about itself, apart from its text. */
import { elementsOf, type HtmlDocument, type HtmlElement } from '#documents/parsing/html/html-tree.ts'
import { metaDirectives, type PageDirectives, strictest } from './page-directives.ts'
import { boundedLinks, isSameOrigin, linkUrl, pageUrl } from './page-url.ts'

export interface PageOutline extends PageDirectives {
  /** Addresses on the page's own origin, each once, in the order of the document. */
  links: string[]
  /** The address that the page names as its own, if it is another one on the same origin. */
  canonical: string | undefined
}

/**
 * @param url the page's address.
 * @param isWanted true for links that count, also for the maximum.
 */
export function outlineOf(
  document: HtmlDocument,
  url: string,
  isWanted: (url: string) => boolean = () => true,
): PageOutline {
  const elements = elementsOf(document.root)
  const base = baseOf(elements, url)
  const metas = elements
    .filter(({ name }) => name === 'meta')
    .map(({ attributes: { name = '', content = '' } }) => metaDirectives(name, content))
  return {
    ...strictest(metas),
    links: boundedLinks(linksOf(elements, url, base), isWanted),
    canonical: canonicalOf(elements, url, base),
  }
}

function baseOf(elements: readonly HtmlElement[], url: string): string {
  const declared = elements.find(({ name, attributes }) => name === 'base' && attributes.href !== undefined)
  const base = URL.parse(declared?.attributes.href ?? '', url)
  return base !== null && /^https?:$/.test(base.protocol) ? base.href : url
}

function* linksOf(elements: readonly HtmlElement[], url: string, base: string): Generator<string> {
  for (const reference of referencesOf(elements)) {
    const link = linkUrl(reference, base)
    if (link !== undefined && isSameOrigin(link, url)) yield link
  }
}

function* referencesOf(elements: readonly HtmlElement[]): Generator<string> {
  const refresh = elements.find(
    ({ name, attributes }) => name === 'meta' && attributes['http-equiv']?.toLowerCase() === 'refresh',
  )
  const target = /^\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?["']?([^"'\s]+)/i.exec(
    refresh?.attributes.content ?? '',
  )?.[1]
  if (target !== undefined) yield target
  // Links of the head come last: there might be one for each language.
  for (const kind of [bodyReference, headReference])
    for (const element of elements) {
      const reference = kind(element)
      if (reference !== undefined && !hasWord(element.attributes.rel, 'nofollow')) yield reference
    }
}

function bodyReference({ name, attributes: { href, src } }: HtmlElement): string | undefined {
  if (name === 'a' || name === 'area') return href
  return name === 'frame' ? src : undefined
}

/** Returns the reference to the page before or after, or in another language. */
function headReference({ name, attributes: { rel, href, hreflang, type } }: HtmlElement): string | undefined {
  if (name !== 'link') return undefined
  const isTranslation = hasWord(rel, 'alternate') && hreflang !== undefined && /html|^$/i.test(type ?? '')
  return hasWord(rel, 'next') || hasWord(rel, 'prev') || isTranslation ? href : undefined
}

/** True if an attribute contains a word. `nofollow` marks worthless or endless links: sorting, log-ins. */
function hasWord(attribute: string | undefined, word: string): boolean {
  return attribute?.toLowerCase().split(/\s+/).includes(word) ?? false
}

function canonicalOf(elements: readonly HtmlElement[], url: string, base: string): string | undefined {
  const link = elements.find(
    ({ name, attributes: { rel, href } }) =>
      name === 'link' && href !== undefined && hasWord(rel, 'canonical'),
  )
  const href = link?.attributes.href
  const canonical = href ? pageUrl(href, base) : undefined
  return canonical !== undefined && canonical !== url && isSameOrigin(canonical, url) ? canonical : undefined
}
