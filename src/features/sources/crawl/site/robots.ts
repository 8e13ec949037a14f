import robotsParser from 'robots-parser'
import { normalEscapes } from '../page/page-url.ts'

/** The name by which a robots.txt may address us: the first word of our User-Agent. */
export const robotName = 'agentstead'

/** The rules of a site's robots.txt; `none` where it has none. */
export type RobotsRules = { kind: 'none' } | RobotsText

export interface RobotsText {
  kind: 'text'
  /** Where it was read. */
  url: string
  text: string
}

interface Robots {
  isAllowed(url: string, name: string): boolean | undefined
  getCrawlDelay(name: string): number | undefined
  getSitemaps(): string[]
}

// The package's types describe a module of another kind than it is.
const parse = robotsParser as unknown as (url: string, text: string) => Robots

/** Which of these addresses may be read. An address of another host is none of this file's business. */
export function allowedByRobots({ url, text }: RobotsText, addresses: readonly string[]): boolean[] {
  const robots = parse(url, normalEscapes(text))
  return addresses.map(address => robots.isAllowed(inSpellingOfRules(address), robotName) ?? true)
}

/** The parser spells the paths of rules as `encodeURI` does, but compares them with addresses as they come. */
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
  /** Milliseconds between the starts of two requests. */
  crawlDelay: number
  sitemaps: string[]
}

export function adviceOfRobots({ url, text }: RobotsText): RobotsAdvice {
  const robots = parse(url, text)
  const seconds = robots.getCrawlDelay(robotName) ?? 0
  return { crawlDelay: seconds > 0 ? seconds * 1000 : 0, sitemaps: robots.getSitemaps() }
}
