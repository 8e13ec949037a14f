/** Normalises URLs of pages, so that no page is read twice. */
import { crawlLimits } from '../crawl-limits.ts'

/** Parameters that identify a visitor, such as sessions or advertisements: each would make another page. */
const visitorParameter =
  /^(?:jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken|utm_\w+|gclid|dclid|fbclid|msclkid|mc_[ce]id)$/i
const sessionSegment = /;jsessionid=[^/?#;]*/gi
const unreserved = /[A-Za-z0-9._~-]/

/** Returns the normal form of an address; undefined if it is not http or https, or too long. */
export function pageUrl(text: string, base?: string): string | undefined {
  // Length is checked before parsing; relative references are shorter than their result.
  if (text.length > crawlLimits.addressLength) return undefined
  const url = URL.parse(text.trim(), base)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  if (url.username !== '' || url.password !== '') return undefined
  url.hash = ''
  url.pathname = normalEscapes(url.pathname)
  url.search = normalEscapes(url.search)
  const address = url.href.endsWith('?') ? url.href.slice(0, -1) : url.href
  return address.length > crawlLimits.addressLength ? undefined : address
}

/** Returns the address of a link, without parameters that identify its recipient. */
export function linkUrl(href: string, base: string): string | undefined {
  const address = pageUrl(href, base)
  if (address === undefined || !/sess|cfid|cftoken|utm_|clid|mc_/i.test(address)) return address
  const url = new URL(address)
  url.pathname = url.pathname.replace(sessionSegment, '')
  const names = [...new Set(url.searchParams.keys())].filter(name => visitorParameter.test(name))
  for (const name of names) url.searchParams.delete(name)
  return pageUrl(url.href)
}

/** Returns these addresses, each once, up to the limit of one page. */
export function boundedLinks(addresses: Iterable<string>, isWanted: (url: string) => boolean): string[] {
  const links = new Set<string>()
  let characters = 0
  for (const address of addresses) {
    if (links.has(address) || !isWanted(address)) continue
    characters += address.length
    if (links.size >= crawlLimits.linksPerPage || characters > crawlLimits.linkCharactersPerPage) break
    links.add(address)
  }
  return [...links]
}

/** Returns addresses of several bounded lists, up to the limit; a single list is not examined again. */
export function boundedTogether(lists: readonly string[][]): string[] {
  const [first = [], ...others] = lists.filter(list => list.length > 0)
  return others.length === 0 ? first : boundedLinks([first, ...others].flat(), () => true)
}

export function isSameOrigin(one: string, other: string): boolean {
  return URL.parse(one)?.origin === URL.parse(other)?.origin
}

/** Normalises escapes to capitals, and removes those of characters that are safe unescaped. */
export function normalEscapes(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, escaped => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
    return unreserved.test(character) ? character : escaped.toUpperCase()
  })
}
