import { normalEscapes } from '../page/page-url.ts'
import type { Glob } from './glob.ts'
import { compileGlob } from './glob.ts'

export interface UrlPatterns {
  /** An address is crawled only if it matches one of these; every address if there are none. */
  include: readonly string[]
  /** An address that matches one of these is skipped, also if `include` matches. */
  exclude: readonly string[]
}

const extended = /[!@+]\(/

/** The problem of a pattern, to stand after "includePatterns: "; undefined if it can be used. */
export function patternProblem(pattern: string): string | undefined {
  if (extended.test(pattern))
    return 'has an extended glob such as !(…), which is not understood; use *, **, ?, [a-z] and {a,b}'
  try {
    compileGlob(pattern)
    return undefined
  } catch (error) {
    return error instanceof RangeError ? error.message : 'is not a glob'
  }
}

/** Whether an address is to be crawled. A pattern may be about the whole address or about its path. */
export function compilePatterns({ include, exclude }: UrlPatterns): (url: string) => boolean {
  // Addresses have one spelling of each escape.
  const compile = (pattern: string) => compileGlob(normalEscapes(pattern))
  const [included, excluded] = [include.map(compile), exclude.map(compile)]
  return url => {
    const { pathname } = new URL(url)
    // Who writes a pattern sees letters where the address has escapes.
    const texts = new Set([url, pathname, readable(url), readable(pathname)])
    const matchesAny = (globs: readonly Glob[]) => globs.some(glob => [...texts].some(glob))
    return !matchesAny(excluded) && (included.length === 0 || matchesAny(included))
  }
}

function readable(text: string): string {
  try {
    return decodeURI(text)
  } catch {
    return text
  }
}
