import robotsParser from 'robots-parser'
import { normalEscapes } from '../page/page-url.ts'

/** The name by which a robots.txt addresses us: the first word of our User-Agent. */
export const robotName = 'agentstead'

/** The rules of a site's robots.txt; `none` if the site has none. */
export type RobotsRules = { kind: 'none' } | RobotsText

export interface RobotsText {
  kind: 'text'
  /** The file's address. */
  url: string
  text: string
}

interface Robots {
  isAllowed(url: string, name: string): boolean | undefined
  getCrawlDelay(name: string): number | undefined
  getSitemaps(): string[]
}

// The package's types describe another kind of module.
const parse = robotsParser as unknown as (url: string, text: string) => Robots

/** Returns for each address if it may be read. The file does not apply to addresses of other hosts. */
export function allowedByRobots({ url, text }: RobotsText, addresses: readonly string[]): boolean[] {
  const robots = parse(url, normalEscapes(text))
  return addresses.map(address => robots.isAllowed(inSpellingOfRules(address), robotName) ?? true)
}

/** Encodes an address like the rules: the parser applies `encodeURI` only to their paths. */
function inSpellingOfRules(address: string): string {
  const url = new URL(address)
  url.pathname = spelled(url.pathname)
  url.search = spelled(url.search)
  return url.href
}

function spelled(text: string): string {
  return encodeURI(text).replaceAll('%25', '%')
}

export interface RobotsAdvice {
  /** The min time between the starts of two requests (ms). */
  crawlDelay: number
  sitemaps: string[]
}

export function adviceOfRobots({ url, text }: RobotsText): RobotsAdvice {
  const robots = parse(url, text)
  const seconds = robots.getCrawlDelay(robotName) ?? 0
  return { crawlDelay: seconds > 0 ? seconds * 1000 : 0, sitemaps: robots.getSitemaps() }
}
