/** Runs in a thread of the worker pool because pages are foreign; called by `crawl-threads.ts`. */
import { createHash } from 'node:crypto'
import type { ChunkingOptions } from '#documents/chunking/chunking-options.ts'
import { isEmptyShell } from '#documents/parsing/html/empty-shell.ts'
import { parseHtml } from '#documents/parsing/html/html-tree.ts'
import { pageText } from '#documents/parsing/html/page-text.ts'
import { prepareChunks } from '#features/knowledge/drafts.service.ts'
import { crawlLimits } from './crawl-limits.ts'
import {
  blocksOf,
  type ComparedPage,
  changesByComparison,
  eachMark,
  leftOutOf,
  marksOf,
} from './page/page-blocks.ts'
import { chunksOfPage } from './page/page-chunks.ts'
import { pack, packPage } from './page/page-content.ts'
import { headerDirectives, strictest } from './page/page-directives.ts'
import { outlineOf } from './page/page-outline.ts'
import { boundedLinks, isSameOrigin, pageUrl } from './page/page-url.ts'
import type { RobotsAdvice, RobotsText } from './site/robots.ts'
import type { Sitemap } from './site/sitemap.ts'
import { compilePatterns, type UrlPatterns } from './site/url-patterns.ts'

export interface RawPage {
  body: Uint8Array<ArrayBuffer>
  contentType: string
  /** The header X-Robots-Tag, or an empty text. */
  robotsTag: string
  /** The page's address. */
  url: string
  patterns: UrlPatterns
  chunking: ChunkingOptions
  /** True if the chunks are returned, too. */
  isCut: boolean
  /** Marks of blocks that other pages also contain. */
  repeated: string
}

/** A page in its stored form. */
export interface PageText {
  /** See `page/page-content.ts`. */
  content: Uint8Array
  /** The number of chunks; undefined for a page that is not chunked yet. */
  chunks: number | undefined
  /** The SHA-256 of title and text, in hex. */
  hash: string
  /** A digit for each block: 1 if it is left out of the chunks. */
  leftOut: string
}

export interface ReadPage extends PageText {
  /** The whole page; see `page/page-content.ts`. */
  whole: Uint8Array
  /** See `page/page-blocks.ts`. */
  marks: string
  /** Links on the same origin and within the patterns, in the order of the document. */
  links: string[]
  canonical: string | undefined
  noFollow: boolean
  /** True if the content is missing because scripts write it. */
  isShell: boolean
  /** The reason why only the links count; undefined for an indexed page. */
  omitted: string | undefined
}

export async function readPage(raw: RawPage): Promise<ReadPage | undefined> {
  const { body, contentType, url, patterns, chunking } = raw
  const html = pageText(body, contentType)
  if (html === undefined) return undefined
  const document = parseHtml(html)
  const isWanted = compilePatterns(patterns)
  const { links, canonical, ...inHead } = outlineOf(document, url, isWanted)
  const { noIndex, noFollow } = strictest([inHead, headerDirectives(raw.robotsTag)])
  const outline = {
    isShell: !noIndex && isEmptyShell(document),
    links,
    canonical: canonical !== undefined && isWanted(canonical) ? canonical : undefined,
    noFollow,
  }
  if (noIndex) return omittedPage(outline, 'It asks not to be indexed.')
  const { readablePart } = await import('#documents/parsing/html/html-page.ts')
  const { title, markdown } = readablePart(document, url)
  // Absolute links could inflate a page to many times its size.
  const text = markdown.slice(0, crawlLimits.pageBytes)
  if (text.trim() === '')
    return omittedPage(outline, 'It holds no text: what scripts would write is not read.')
  const page = { title, text, chunking }
  const marks = marksOf(blocksOf(text))
  const repeated = new Set(eachMark(raw.repeated))
  const leftOut = leftOutOf(eachMark(marks), mark => repeated.has(mark))
  const whole = packPage(page)
  const chunks = raw.isCut ? prepareChunks(chunksOfPage(page, leftOut)) : undefined
  return {
    ...outline,
    omitted: undefined,
    whole,
    marks,
    leftOut,
    content: chunks ? pack(chunks) : whole,
    chunks: chunks?.length,
    hash: createHash('sha256').update(`${title}\n${text}`).digest('hex'),
  }
}

const noText = { content: pack([]), whole: pack([]), hash: '', marks: '', leftOut: '' }

function omittedPage(
  outline: Pick<ReadPage, 'isShell' | 'links' | 'canonical' | 'noFollow'>,
  omitted: string,
): ReadPage {
  return { ...outline, omitted, ...noText, chunks: undefined }
}

/** Loads the modules of a crawl before its first page arrives. */
export async function prepareThread(): Promise<void> {
  await Promise.all([import('#documents/parsing/html/html-page.ts'), import('./write-page.worker.ts')])
}

export async function decideByRobots(argument: {
  rules: RobotsText
  urls: readonly string[]
}): Promise<boolean[]> {
  const { allowedByRobots } = await import('./site/robots.ts')
  return allowedByRobots(argument.rules, argument.urls)
}

/** See `page/page-blocks.ts`. */
export function comparePages(pages: readonly ComparedPage[]): Omit<ComparedPage, 'marks'>[] {
  return changesByComparison(pages)
}

/** Returns for each address if the patterns match it. */
export function matchPatterns(argument: { patterns: UrlPatterns; urls: readonly string[] }): boolean[] {
  return argument.urls.map(compilePatterns(argument.patterns))
}

/** Reads a robots.txt as far as it concerns the site of the start page. */
export async function readAdvice(argument: { rules: RobotsText; startUrl: string }): Promise<RobotsAdvice> {
  const { adviceOfRobots } = await import('./site/robots.ts')
  const { crawlDelay, sitemaps } = adviceOfRobots(argument.rules)
  return { crawlDelay, sitemaps: firstSitemaps(sitemaps, argument.startUrl) }
}

export interface RawSitemap {
  body: Uint8Array
  startUrl: string
  patterns: UrlPatterns
}

/** Returns a sitemap's pages on the site and within the patterns, and other sitemaps of the site. */
export async function readSitemap({ body, startUrl, patterns }: RawSitemap): Promise<Sitemap> {
  const sitemap = await import('./site/sitemap.ts')
  const { pages, sitemaps, problem } = sitemap.readSitemap(sitemap.sitemapText(body))
  const ownPages = [...onSite(pages, startUrl)]
  const [foreign] = ownPages.length === 0 ? pages : []
  return {
    pages: boundedLinks(ownPages, compilePatterns(patterns)),
    sitemaps: firstSitemaps(sitemaps, startUrl),
    problem:
      foreign === undefined ? problem : `It names pages of another site, such as ${foreign.slice(0, 200)}.`,
  }
}

/** Returns the first sitemaps up to the limit; many sites name one twice. */
function firstSitemaps(addresses: readonly string[], startUrl: string): string[] {
  return [...new Set(onSite(addresses, startUrl))].slice(0, crawlLimits.sitemaps)
}

function* onSite(addresses: readonly string[], startUrl: string): Generator<string> {
  for (const address of addresses) {
    const url = pageUrl(address, startUrl)
    if (url !== undefined && isSameOrigin(url, startUrl)) yield url
  }
}
