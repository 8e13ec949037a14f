/** A part of a text; offsets in UTF-16 units, `end` exclusive. */
export interface Range {
  start: number
  end: number
}

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' })
const words = new Intl.Segmenter(undefined, { granularity: 'word' })
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** A line break inside a sentence: the next line continues with a letter or number and is no list item. */
const softBreak = /\n(?!\d{1,9}[.)][ \t])(?=[\p{L}\p{N}("'“„«‘])/gu
const blankLine = /\n[ \t]*\n/g
/** Max distance of a word's or grapheme's beginning from a cut; longer ones are cut. */
const nearby = 64

/** Returns the range without white space at its ends; undefined if there is nothing else. */
export function trimmed(text: string, { start, end }: Range): Range | undefined {
  const content = text.slice(start, end)
  const from = start + content.length - content.trimStart().length
  return from === end ? undefined : { start: from, end: start + content.trimEnd().length }
}

export function* paragraphsOf(text: string, { start, end }: Range): Generator<Range> {
  let from = start
  for (const gap of text.slice(start, end).matchAll(blankLine)) {
    yield { start: from, end: start + gap.index }
    from = start + gap.index
  }
  yield { start: from, end }
}

/** Yields sentences by the rules of Unicode (UAX 29), across the line breaks of wrapped text. */
export function* sentencesOf(text: string, { start, end }: Range): Generator<Range> {
  const unwrapped = text.slice(start, end).replace(softBreak, ' ')
  for (const { index, segment } of sentences.segment(unwrapped)) {
    yield { start: start + index, end: start + index + segment.length }
  }
}

export function* linesOf(text: string, { start, end }: Range): Generator<Range> {
  for (let from = start; from < end; ) {
    const lineBreak = text.indexOf('\n', from)
    const to = lineBreak === -1 || lineBreak >= end ? end : lineBreak + 1
    yield { start: from, end: to }
    from = to
  }
}

/** Yields parts of at most `limit`, cut between words if these are short enough. */
export function* piecesOf(text: string, { start, end }: Range, limit: number): Generator<Range> {
  for (let from = start; from < end; ) {
    const to = end - from <= limit ? end : wordCut(text, from + limit, from)
    yield { start: from, end: to }
    from = to
  }
}

/** Returns the nearest place at or before `at`, and after `from`, that cuts no word, or no grapheme. */
function wordCut(text: string, at: number, from: number): number {
  return cutBy(words, text, at, from) ?? graphemeCut(text, at, from)
}

/** Returns the nearest place at or before `at`, and after `from`, that cuts no grapheme or surrogate pair. */
export function graphemeCut(text: string, at: number, from: number): number {
  const tearsPair = /[\udc00-\udfff]/.test(text.charAt(at)) && /[\ud800-\udbff]/.test(text.charAt(at - 1))
  return cutBy(graphemes, text, at, from) ?? (tearsPair && at - 1 > from ? at - 1 : at)
}

function cutBy(segmenter: Intl.Segmenter, text: string, at: number, from: number): number | undefined {
  const start = Math.max(from, at - nearby)
  const index = segmenter.segment(text.slice(start, at + nearby)).containing(at - start)?.index ?? 0
  return index === 0 ? undefined : start + index
}
