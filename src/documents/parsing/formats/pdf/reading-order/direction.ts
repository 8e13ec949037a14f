/** The typing order of lines with writing from the right and Latin words or numbers (inverse of UAX #9). */

const fromRight =
  /[[\p{scx=Hebrew}\p{scx=Arabic}\p{scx=Syriac}\p{scx=Thaana}\p{scx=Nko}]--[\p{M}\p{Nd}\p{Sc}]]/gv
const fromLeft = /[\p{L}--[\p{scx=Hebrew}\p{scx=Arabic}\p{scx=Syriac}\p{scx=Thaana}\p{scx=Nko}]]/gv
const arabic = /[\p{scx=Arabic}--[\p{M}\p{Nd}]]/v
/** Matches words; signs of a number stay on their side of it in Hebrew and go with the text in Arabic. */
const words = (number: string) =>
  new RegExp(
    `(?<number>${number})|(?<left>(?:${fromLeft.source}\\p{M}*)+)|(?<right>(?:\\p{M}*${fromRight.source}\\p{M}*)+)|(?<other>.)`,
    'gsv',
  )
const hebrewWords = words(String.raw`[\p{Sc}%#°‰]*\p{Nd}+(?:[.,:\/+\-]\p{Nd}+)*[\p{Sc}%#°‰]*`)
const arabicWords = words(String.raw`\p{Nd}+(?:[.,:\/\u066b\u066c]\p{Nd}+)*`)

const pairs = '()[]{}<>«»‹›'

type Kind = 'number' | 'left' | 'right' | 'other'

interface Word {
  kind: Kind
  text: string
}

export function isFromRight(text: string): boolean {
  return text.search(fromRight) >= 0
}

/** Counts letters from the right, and from the left; signs count as the latter if there are no others. */
export function lettersOf(text: string): { right: number; left: number } {
  const right = text.match(fromRight)?.length ?? 0
  return { right, left: right === 0 ? text.length : (text.match(fromLeft)?.length ?? 0) }
}

/** @param visual the text of a line from left to right, with `\t` between cells */
export function logicalText(visual: string, isRightToLeft: boolean): string {
  const cells = visual.split('\t').map(cell => logicalCell(cell, isRightToLeft))
  return (isRightToLeft ? cells.reverse() : cells).join('\t')
}

/** Reads a cell. Fonts store a bracket by its look or by its meaning: matching ones are right. */
function logicalCell(visual: string, isRightToLeft: boolean): string {
  const matches = visual.matchAll(arabic.test(visual) ? arabicWords : hebrewWords)
  const parts = [...matches].map(({ 0: text, groups = {} }): Word => {
    const kind = (['number', 'left', 'right'] as const).find(name => groups[name] !== undefined)
    return { kind: kind ?? 'other', text }
  })
  const phrases = phrasesOf(parts, isRightToLeft ? 'left' : 'right')
  const [mirrored, kept] = [mirror, String].map(bracket => {
    const turn = (words: readonly Word[]) =>
      words
        .toReversed()
        .map(word => turned(word, bracket))
        .join('')
    if (!isRightToLeft) {
      return phrases.map(one => (Array.isArray(one) ? turn(one) : one.text)).join('')
    }
    const asWords = phrases.map(one =>
      Array.isArray(one) ? { kind: 'left' as const, text: textIn(one) } : one,
    )
    return turn(asWords)
  }) as [string, string]
  return !isBalanced(mirrored) && isBalanced(kept) ? kept : mirrored
}

function turned({ kind, text }: Word, bracket: (text: string) => string): string {
  if (kind === 'right') return [...text].reverse().join('')
  return kind === 'other' ? bracket(text) : text
}

function textIn(words: readonly Word[]): string {
  return words.map(({ text }) => text).join('')
}

function mirror(sign: string): string {
  const index = pairs.indexOf(sign)
  return index < 0 ? sign : pairs.charAt(index ^ 1)
}

/**
 * Returns words of that direction, with all between them, as one phrase each. Numbers behind Latin words go
 * with them. Text in brackets stays there.
 */
function phrasesOf(words: readonly Word[], direction: 'left' | 'right'): (Word | Word[])[] {
  const found: (Word | Word[])[] = []
  for (let at = 0; at < words.length; ) {
    const word = words[at]
    if (word === undefined) break
    const end = word.kind === direction ? endOfPhrase(words, at, direction) : at + 1
    found.push(word.kind === direction ? words.slice(at, end) : word)
    at = end
  }
  return found
}

function endOfPhrase(words: readonly Word[], start: number, direction: 'left' | 'right'): number {
  let [end, open] = [start + 1, 0]
  for (const [index, { kind, text }] of words.slice(start + 1).entries()) {
    const step = kind === 'other' ? nesting(text) : 0
    open += step
    const isPart = kind === direction || (kind === 'number' && direction === 'left')
    if (open < 0 || (!isPart && kind !== 'other' && kind !== 'number')) break
    if ((isPart || step !== 0) && open === 0) end = start + index + 2
  }
  return end
}

/** Returns 1 for an opening bracket, -1 for a closing one, else 0. */
function nesting(sign: string): number {
  const side = pairs.indexOf(sign)
  if (side < 0) return 0
  return side % 2 === 0 ? 1 : -1
}

function isBalanced(text: string): boolean {
  let open = 0
  for (const sign of text) {
    open += nesting(sign)
    if (open < 0) return false
  }
  return open === 0
}
