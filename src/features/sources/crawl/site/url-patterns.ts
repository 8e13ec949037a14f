import { normalEscapes } from '../page/page-url.ts'
import { compileGlob, type Glob } from './glob.ts'

export interface UrlPatterns {
  /** An address is crawled only if it matches one of these; all addresses if empty. */
  include: readonly string[]
  /** An address that matches one of these is skipped, even if `include` matches. */
  exclude: readonly string[]
}

const extended = /[!@+]\(/

/** Returns the problem of a pattern, for the text after "includePatterns: "; undefined if it is valid. */
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

/** Returns the test of addresses. A pattern can match the whole address or its path. */
export function compilePatterns({ include, exclude }: UrlPatterns): (url: string) => boolean {
  // Addresses have only one form of each escape.
  const compile = (pattern: string) => compileGlob(normalEscapes(pattern))
  const [included, excluded] = [include.map(compile), exclude.map(compile)]
  return url => {
    const { pathname } = new URL(url)
    // The author of a pattern sees letters in place of the address's escapes.
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
