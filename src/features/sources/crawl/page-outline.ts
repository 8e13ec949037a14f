/** What a page says about other pages and about itself, apart from its text. */
import type { HtmlDocument } from '../parsing/html-dom.ts'
import type { PageDirectives } from './page-directives.ts'
import { metaDirectives, strictest } from './page-directives.ts'
import { boundedLinks, isSameOrigin, linkUrl, pageUrl } from './page-url.ts'

export interface PageOutline extends PageDirectives {
  /** Addresses on the page's own origin, each once, in the order of the document. */
  links: string[]
  /** The address that the page names as its own, if that is another one on the same origin. */
  canonical: string | undefined
}

/**
 * @param url where the page was read.
 * @param isWanted which links count, also towards their greatest number.
 */
export function outlineOf(
  document: HtmlDocument,
  url: string,
  isWanted: (url: string) => boolean = () => true,
): PageOutline {
  const base = baseOf(document, url)
  const metas = [...document.querySelectorAll('meta[name][content]')].map(meta =>
    metaDirectives(meta.getAttribute('name') ?? '', meta.getAttribute('content') ?? ''),
  )
  return {
    ...strictest(metas),
    links: boundedLinks(linksOf(document, url, base), isWanted),
    canonical: canonicalOf(document, url, base),
  }
}

function baseOf(document: HtmlDocument, url: string): string {
  const declared = document.querySelector('base[href]')?.getAttribute('href') ?? ''
  const base = URL.parse(declared, url)
  return base !== null && /^https?:$/.test(base.protocol) ? base.href : url
}

function* linksOf(document: HtmlDocument, url: string, base: string): Generator<string> {
  for (const reference of referencesOf(document)) {
    const link = linkUrl(reference, base)
    if (link !== undefined && isSameOrigin(link, url)) yield link
  }
}

function* referencesOf(document: HtmlDocument): Generator<string> {
  const refresh = document.querySelector('meta[http-equiv="refresh" i]')?.getAttribute('content') ?? ''
  const target = /^\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?["']?([^"'\s]+)/i.exec(refresh)?.[1]
  if (target !== undefined) yield target
  for (const element of document.querySelectorAll('a[href], area[href], frame[src]')) {
    if (!isNoFollow(element.getAttribute('rel')))
      yield element.getAttribute('href') ?? element.getAttribute('src') ?? ''
  }
}

/** Sites mark so what is not worth a visit, or has no end: sorting, calendars, log-ins. */
function isNoFollow(rel: string | null): boolean {
  return rel?.toLowerCase().split(/\s+/).includes('nofollow') ?? false
}

function canonicalOf(document: HtmlDocument, url: string, base: string): string | undefined {
  const href = document.querySelector('link[rel~="canonical" i][href]')?.getAttribute('href')
  const canonical = href ? pageUrl(href, base) : undefined
  return canonical !== undefined && canonical !== url && isSameOrigin(canonical, url) ? canonical : undefined
}
