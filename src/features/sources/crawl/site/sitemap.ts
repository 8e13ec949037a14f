/** Reads sitemaps (sitemaps.org) without an XML parser: only their addresses are needed. */
import { gunzipSync } from 'node:zlib'

export interface Sitemap {
  pages: string[]
  /** Other sitemaps, if this is an index. */
  sitemaps: string[]
  /** The reason why it has no addresses; undefined if it has some, or is empty. */
  problem?: string | undefined
}

/** The standard's own limits for one file. */
const maxLocations = 50_000
const maxBytes = 50 * 1024 * 1024

/** Decodes a sitemap as UTF-8, often gzipped. Throws if it is broken, or too large when decompressed. */
export function sitemapText(body: Uint8Array): string {
  const isCompressed = body[0] === 0x1f && body[1] === 0x8b
  return new TextDecoder().decode(isCompressed ? gunzipSync(body, { maxOutputLength: maxBytes }) : body)
}

export function readSitemap(text: string): Sitemap {
  const [, prefix = '', kind] = root.exec(text.slice(0, rootWithin)) ?? []
  const locations = locationsOf(text, prefix)
  if (kind === undefined && locations.length === 0)
    return { pages: [], sitemaps: [], problem: 'It is no sitemap.' }
  return kind === 'sitemapindex' ? { pages: [], sitemaps: locations } : { pages: locations, sitemaps: [] }
}

const root = /<(\w{1,20}:)?(sitemapindex|urlset)[\s>]/
const rootWithin = 2_000

/**
 * A comment, or an element `loc`, with its text plain or in a CDATA section. With a namespace of its own,
 * such as in `image:loc`, it is not the address of a page.
 */
const commentOrLocation =
  /<!--|<(\w{1,20}:)?loc>\s{0,100}(?:([^<\s]{1,3000})|<!\[CDATA\[\s{0,100}([^<\s]{1,3000}?)\s{0,100}\]\]>)\s{0,100}</g

function locationsOf(text: string, prefix: string): string[] {
  // A sitemap can also be a bare list.
  const found = text.trimStart().startsWith('<')
    ? locationsInXml(text, prefix)
    : text.matchAll(/^\s{0,100}(https?:\S{1,3000})\s*$/gm).map(([, line = '']) => line)
  return found.take(maxLocations).toArray()
}

function* locationsInXml(text: string, prefix: string): Generator<string> {
  const marks = new RegExp(commentOrLocation)
  for (let match = marks.exec(text); match !== null; match = marks.exec(text)) {
    const [mark, ownPrefix = '', plain = '', section] = match
    if (mark === '<!--') {
      const end = text.indexOf('-->', marks.lastIndex)
      if (end === -1) return
      marks.lastIndex = end
    } else if (ownPrefix === prefix) yield section ?? unescaped(plain)
  }
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescaped(text: string): string {
  return text.replace(
    /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi,
    (whole, hex: string | undefined, decimal: string | undefined, name: string | undefined) =>
      name === undefined ? (characterOf(hex, decimal) ?? whole) : (entities[name] ?? whole),
  )
}

/** Returns a character; undefined outside of Unicode. */
function characterOf(hex: string | undefined, decimal: string | undefined): string | undefined {
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined
}
