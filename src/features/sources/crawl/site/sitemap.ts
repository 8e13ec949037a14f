/** Sitemaps (sitemaps.org), read without an XML parser: nothing in them but addresses is of interest. */
import { gunzipSync } from 'node:zlib'

export interface Sitemap {
  pages: string[]
  /** Other sitemaps, where this is a list of them. */
  sitemaps: string[]
}

/** The standard's own limits for one file. */
const mostLocations = 50_000
const mostBytes = 50 * 1024 * 1024

/** Sitemaps are UTF-8, and often compressed with gzip. Throws for one that is broken, or too large when decompressed. */
export function sitemapText(body: Uint8Array): string {
  const isCompressed = body[0] === 0x1f && body[1] === 0x8b
  return new TextDecoder().decode(isCompressed ? gunzipSync(body, { maxOutputLength: mostBytes }) : body)
}

export function readSitemap(text: string): Sitemap {
  const isIndex = /<(?:\w+:)?sitemapindex[\s>]/.test(text.slice(0, 2_000))
  const locations = locationsOf(text)
  return isIndex ? { pages: [], sitemaps: locations } : { pages: locations, sitemaps: [] }
}

/** An element `loc`, with its text as it is or in a CDATA section. */
const location =
  /<(?:\w{1,20}:)?loc>\s{0,100}(?:([^<\s]{1,3000})|<!\[CDATA\[\s{0,100}([^<\s]{1,3000}?)\s{0,100}\]\]>)\s{0,100}</g

function locationsOf(text: string): string[] {
  // A sitemap may also be a bare list.
  const found = text.trimStart().startsWith('<')
    ? text.matchAll(location)
    : text.matchAll(/^\s{0,100}(https?:\S{1,3000})\s*$/gm)
  return found
    .take(mostLocations)
    .map(([, plain = '', section]) => section ?? unescaped(plain))
    .toArray()
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (whole, name: string) => entities[name] ?? whole)
}
