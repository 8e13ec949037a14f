/** Directives of a page to crawlers, in its head or in the header X-Robots-Tag. */
import { robotName } from '../site/robots.ts'

export interface PageDirectives {
  noIndex: boolean
  noFollow: boolean
}

/** Returns the directives of the header; a part such as `otherbot: noindex` is for others. */
export function headerDirectives(header: string): PageDirectives {
  const mine: string[] = []
  let isForUs = true
  for (const part of header.split(',')) {
    const [, name, rest] = /^\s*([\w-]+)\s*:(.*)$/s.exec(part) ?? []
    // `unavailable_after: …` and similar ones have a value, but no addressee.
    const isAddressed = name !== undefined && !valued.test(name)
    if (isAddressed) isForUs = name.toLowerCase() === robotName
    if (isForUs) mine.push(isAddressed ? (rest ?? '') : part)
  }
  return directivesOf(mine.join(','))
}

const valued = /^(?:unavailable_after|max-snippet|max-image-preview|max-video-preview)$/i

/** Returns the directives of one `meta` element. */
export function metaDirectives(name: string, content: string): PageDirectives {
  const isForUs = ['robots', robotName].includes(name.trim().toLowerCase())
  return directivesOf(isForUs ? content : '')
}

export function strictest(all: readonly PageDirectives[]): PageDirectives {
  return { noIndex: all.some(({ noIndex }) => noIndex), noFollow: all.some(({ noFollow }) => noFollow) }
}

function directivesOf(text: string): PageDirectives {
  // Commas separate directives, but some pages omit them.
  const words = text.toLowerCase().split(/[\s,]+/)
  const has = (word: string) => words.includes(word) || words.includes('none')
  return { noIndex: has('noindex'), noFollow: has('nofollow') }
}
