import type { Token } from 'marked'
import { Lexer } from 'marked'

/**
 * A text in Markdown as blocks, parsed while it grows: only the end of it is parsed again, as all but the last two blocks can't
 * change any more.
 */
export interface Blocks {
  text: string
  /** Blocks that no longer text will change, and how many characters of the text they are. */
  settled: readonly Token[]
  settledLength: number
  /** Blocks of the rest. */
  open: readonly Token[]
}

export const noBlocks: Blocks = { text: '', settled: [], settledLength: 0, open: [] }

const openBlocks = 2
/** A list of more items than this is settled item by item, as it may be all that an answer is. */
const openItems = 3

/** The blocks of a text that usually begins with the text of `before`. */
export function growBlocks(before: Blocks, text: string): Blocks {
  if (text === before.text) return before
  const { settled, settledLength } = text.startsWith(before.text) ? before : noBlocks
  const rest = text.slice(settledLength)
  const tokens = parseBlocks(rest)
  // Line ends are counted as they are written only where they are all of one kind.
  const ready = rest.includes('\r') ? [] : settle(tokens, rest)
  const length = ready.reduce((sum, { raw }) => sum + raw.length, 0)
  if (length === 0) return { text, settled, settledLength, open: tokens }
  return {
    text,
    settled: [...settled, ...ready],
    settledLength: settledLength + length,
    open: parseBlocks(rest.slice(length)),
  }
}

/** The blocks from the beginning that are complete, whatever follows. */
function settle(tokens: readonly Token[], text: string): readonly Token[] {
  const shown = tokens.flatMap((token, at) => (token.type === 'space' ? [] : [at]))
  const ready = tokens.slice(0, shown.at(-openBlocks) ?? 0)
  const candidate = ready.length > 0 ? ready : firstItems(tokens)
  return text.startsWith(candidate.map(({ raw }) => raw).join('')) ? candidate : []
}

/** The finished items of a list that is still being written. */
function firstItems([list]: readonly Token[]): readonly Token[] {
  if (list?.type !== 'list' || list.items.length <= openItems) return []
  const items = list.items.slice(0, -2)
  return [{ ...list, items, raw: items.map(({ raw }: Token) => raw).join('') }]
}

/** Longer paragraphs are shown as they are written: some take seconds to be parsed, made for that. */
const maxInline = 4000
/** Of a whole text, beyond which it is shown as it is written. */
const maxParsed = 200_000

/** Quotes and lists within each other more than 32 times, by their signs or their indentation. */
const tooDeep =
  /^(?:(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){33}|[ \t]{100,}(?:[-*+]|\d{1,9}[.)])[ \t])/m

/** Parses a whole text. Never throws: a text that the parser can't take is one block as it is written. */
export function parseBlocks(text: string): readonly Token[] {
  if (text.length > maxParsed || tooDeep.test(text)) return [plain(text)]
  try {
    const lexer = new Lexer({ gfm: true })
    lexer.blockTokens(text.replaceAll(/\r\n?/g, '\n'), lexer.tokens)
    for (const { src, tokens } of lexer.inlineQueue) {
      if (src.length > maxInline) tokens.push({ type: 'text', raw: src, text: src, escaped: true })
      else lexer.inlineTokens(src, tokens)
    }
    return lexer.tokens
  } catch {
    return [plain(text)]
  }
}

const plain = (text: string): Token => ({ type: 'text', raw: text, text, escaped: true })
