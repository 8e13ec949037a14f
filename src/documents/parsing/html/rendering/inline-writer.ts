import { raisedDigits } from '../../raised-digits.ts'
import { escaped } from './escapes.ts'

/** Joins text so that white space is never within marks, nor double. */
export interface InlineWriter {
  /** Adds a page's text. */
  text(text: string): void
  /** Adds unescaped text in the form of `mark`; only white space changes. */
  verbatim(text: string, mark: (text: string) => string): void
  /** Adds text above the line. */
  raised(text: string): void
  space(): void
  lineBreak(): void
  /** Adds the text that `work` writes between these marks; none without text. */
  within(marks: { before: string; after: string }, work: () => void): void
  result(): string
}

/** White space before the next word. Two line breaks separate pages without paragraphs. */
const gaps = ['', ' ', '  \n', '\n\n'] as const
const [none, space, lineBreak, paragraph] = [0, 1, 2, 3]

export function createInlineWriter({ escapes, breaks }: { escapes: boolean; breaks: boolean }): InlineWriter {
  let written = ''
  /** The last written character: reading the end of the text would copy all of it, each time. */
  let lastCharacter = ''
  let gap = none
  /** Marks that begin with the next word. */
  const waiting: string[] = []

  function widen(wanted: number): void {
    if (written !== '') gap = Math.max(gap, wanted)
  }

  function write(words: string, form: (words: string, isLineStart: boolean) => string): void {
    const isLineStart = written === '' || gap >= lineBreak
    written += gaps[gap] ?? ''
    gap = none
    const isBare = waiting.length === 0
    written += waiting.join('')
    waiting.length = 0
    const formed = form(words, isLineStart && isBare)
    written += formed
    lastCharacter = formed.at(-1) ?? ''
  }

  function add(text: string, form: (words: string, isLineStart: boolean) => string): void {
    const words = text.replace(/[ \t\r\n\f]+/g, ' ')
    const isBlank = words.trim() === ''
    if (words.startsWith(' ') || (isBlank && words !== '')) widen(space)
    if (isBlank) return
    write(withoutEnds(words), form)
    if (words.endsWith(' ')) widen(space)
  }

  function writeText(text: string): void {
    add(text, (words, isLineStart) => (escapes ? escaped(words, isLineStart) : words))
  }

  return {
    text: writeText,
    verbatim: (text, mark) => add(text, mark),
    raised: text => writeText(gap === none ? raisedDigits(text, lastCharacter) : text),
    space: () => widen(space),
    lineBreak() {
      if (!breaks) widen(space)
      else widen(gap >= lineBreak ? paragraph : lineBreak)
    },
    within({ before, after }, work) {
      waiting.push(before)
      const depth = waiting.length
      work()
      // The mark still waits if nothing was written in between.
      if (waiting.length === depth) waiting.pop()
      else {
        written += after
        lastCharacter = after.at(-1) ?? ''
      }
    },
    result: () => written,
  }
}

/** Trims usual white space; other, such as non-breaking, is a character like any other. */
function withoutEnds(words: string): string {
  return words.slice(words.startsWith(' ') ? 1 : 0, words.endsWith(' ') ? -1 : undefined)
}
