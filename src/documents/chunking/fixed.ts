import type { ParsedDocument, Span } from '../parsing/parsed-document.ts'
import { graphemeCut, type Range } from './boundaries.ts'
import type { ChunkingOptions } from './chunking-options.ts'

/** Yields windows of the size, each repeating the end of the one before; each page begins with a new one. */
export function* fixedRanges({ text, spans }: ParsedDocument, options: ChunkingOptions): Generator<Range> {
  for (const page of pagesOf(spans)) {
    for (const window of windowsOf(text, page, options)) {
      if (/\S/.test(text.slice(window.start, window.end))) yield window
    }
  }
}

function* windowsOf(text: string, { start, end }: Range, options: ChunkingOptions): Generator<Range> {
  const { chunk_size, overlap } = options
  for (let from = start; from < end; ) {
    const to = end - from <= chunk_size ? end : graphemeCut(text, from + chunk_size, from)
    yield { start: from, end: to }
    if (to === end) return
    from = to - overlap > from ? graphemeCut(text, to - overlap, from) : to
  }
}

function* pagesOf(spans: Span[]): Generator<Range> {
  let open: Span | undefined
  for (const span of spans) {
    if (open !== undefined && open.page === span.page) open = { ...open, end: span.end }
    else {
      if (open !== undefined) yield open
      open = span
    }
  }
  if (open !== undefined) yield open
}
