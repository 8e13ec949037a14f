/** The fetched documents that a document refers to. */
import { isRecord, ownValue } from '../calling/values.ts'
import { cleanLine } from './clean-text.ts'
import { limits } from './limits.ts'
import { parseText } from './parse-text.ts'

/** The text of a document, or a clause that explains why there is none, by address without fragment. */
export type OtherDocuments = ReadonlyMap<string, { text: string } | { problem: string }>

type Source = { value: unknown } | { problem: string }

const maxProblemLength = 300

/** Parses each document at its first use, and records which of the same origin are missing. */
export function createLibrary(others: OtherDocuments, documentUrl: string | undefined) {
  const opened = new Map<string, Source>()
  const missing = new Set<string>()
  const origin = documentUrl === undefined ? undefined : URL.parse(documentUrl)?.origin

  function open(url: URL): Source {
    const other = others.get(url.href)
    if (other !== undefined) return 'problem' in other ? other : parse(other.text, url.href)
    if (url.origin !== origin) return { problem: 'at another origin' }
    missing.add(url.href)
    return {
      problem: `which was not fetched: at most ${limits.otherDocuments} such documents are, within ${limits.gatherMs / 1000} s`,
    }
  }

  return {
    documentAt(url: URL): Source {
      const source = opened.get(url.href) ?? open(url)
      opened.set(url.href, source)
      return source
    },
    missing: () => [...missing].slice(0, limits.otherDocuments),
  }
}

function parse(text: string, url: string): Source {
  const parsed = parseText(text)
  if (!parsed.ok) return { problem: `which can't be read: ${cleanLine(parsed.issue, maxProblemLength)}` }
  makeAbsolute(parsed.value, url)
  return { value: parsed.value }
}

/** Rewrites every reference to an absolute one, which has the same target from any document. */
function makeAbsolute(document: unknown, url: string): void {
  const seen = new Set<unknown>()
  const open = [document]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    const reference = ownValue(value, '$ref')
    if (isRecord(value) && typeof reference === 'string')
      value.$ref = URL.parse(reference, url)?.href ?? reference
    for (const inner of Object.values(value)) open.push(inner)
  }
}
