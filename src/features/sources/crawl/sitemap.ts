/** Sitemaps (sitemaps.org), read without an XML parser: nothing in them but addresses is of interest. */

export interface Sitemap {
  pages: string[]
  /** Other sitemaps, where this is a list of them. */
  sitemaps: string[]
}

/** The standard's own limit for one file. */
const mostLocations = 50_000

export function readSitemap(text: string): Sitemap {
  const isIndex = /<(?:\w+:)?sitemapindex[\s>]/.test(text.slice(0, 2_000))
  const locations = locationsOf(text)
  return isIndex ? { pages: [], sitemaps: locations } : { pages: locations, sitemaps: [] }
}

function locationsOf(text: string): string[] {
  // A sitemap may also be a bare list.
  const found = text.trimStart().startsWith('<')
    ? text.matchAll(/<(?:\w{1,20}:)?loc>\s{0,100}([^<\s]{1,3000})\s{0,100}</g)
    : text.matchAll(/^\s{0,100}(https?:\S{1,3000})\s*$/gm)
  return found
    .take(mostLocations)
    .map(([, location = '']) => unescaped(location))
    .toArray()
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescaped(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (whole, name: string) => entities[name] ?? whole)
}
