import type { ParsedDocument, Span } from '../parsing/parsed-document.ts'
import type { Range } from './boundaries.ts'
import type { ChunkingMethod, ChunkingOptions } from './chunking-options.ts'
import { fixedRanges } from './fixed.ts'
import { semanticRanges } from './semantic.ts'

/** A passage to find and quote: `content` is the document's text from `start` to `end`. */
export interface Chunk extends Range {
  content: string
  /** Page counted from 1; null if the format has none. */
  page: number | null
  /** Heading above most of it; null without one. */
  section: string | null
}

type Cut = (document: ParsedDocument, options: ChunkingOptions) => Iterable<Range>

const methods = { semantic: semanticRanges, fixed: fixedRanges } satisfies Record<ChunkingMethod, Cut>

/** Cuts a document into chunks of at most `chunk_size`, in reading order; a document of white space has none. */
export function chunkDocument(document: ParsedDocument, options: ChunkingOptions): Chunk[] {
  const { text, spans } = document
  return Iterator.from(methods[options.method](document, options))
    .map(({ start, end }) => ({
      content: text.slice(start, end),
      start,
      end,
      ...labels(spans, { start, end }),
    }))
    .toArray()
}

/** Returns page and section: no chunk crosses a page, so the first span has the page. */
function labels(spans: Span[], range: Range): Pick<Chunk, 'page' | 'section'> {
  const first = firstSpanAfter(spans, range.start)
  const lengths = new Map<string | null, number>()
  for (let index = first; index < spans.length; index++) {
    const span = spans[index]
    if (span === undefined || span.start >= range.end) break
    const section = span.section ?? null
    const shared = Math.min(span.end, range.end) - Math.max(span.start, range.start)
    lengths.set(section, (lengths.get(section) ?? 0) + shared)
  }
  const [section = null] = [...lengths].reduce(
    (most, other) => (other[1] > most[1] ? other : most),
    [null, 0],
  )
  return { page: spans[first]?.page ?? null, section }
}

/** Returns the index of the first span that ends after the offset. */
function firstSpanAfter(spans: Span[], offset: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((spans[middle]?.end ?? 0) > offset) high = middle
    else low = middle + 1
  }
  return low
}
