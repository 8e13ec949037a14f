import { Lexer, type Token } from 'marked'

/**
 * A text in Markdown as blocks, parsed while it grows: only its end is parsed again because all blocks but
 * the last two are final.
 */
export interface Blocks {
  text: string
  /** Blocks that a longer text cannot change, and the number of characters that they cover. */
  settled: readonly Token[]
  settledLength: number
  /** Blocks of the rest of the text. */
  open: readonly Token[]
}

export const noBlocks: Blocks = { text: '', settled: [], settledLength: 0, open: [] }

const openBlocks = 2
/** A list of more items than this is settled item by item because it might be the whole answer. */
const openItems = 3

/** Returns the blocks of a text that usually begins with the text of `before`. */
export function growBlocks(before: Blocks, text: string): Blocks {
  if (text === before.text) return before
  const { settled, settledLength } = text.startsWith(before.text) ? before : noBlocks
  const rest = text.slice(settledLength)
  const tokens = parseBlocks(rest)
  // Lengths of blocks match the text only where all line ends are of one kind.
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

/** Returns the complete blocks at the beginning, which later text cannot change. */
function settle(tokens: readonly Token[], text: string): readonly Token[] {
  const shown = tokens.flatMap((token, at) => (token.type === 'space' ? [] : [at]))
  const ready = tokens.slice(0, shown.at(-openBlocks) ?? 0)
  const candidate = ready.length > 0 ? ready : firstItems(tokens)
  return text.startsWith(candidate.map(({ raw }) => raw).join('')) ? candidate : []
}

/** Returns the finished items of a list that is still being written. */
function firstItems([list]: readonly Token[]): readonly Token[] {
  if (list?.type !== 'list' || list.items.length <= openItems) return []
  const items = list.items.slice(0, -2)
  return [{ ...list, items, raw: items.map(({ raw }: Token) => raw).join('') }]
}

/** Max length of a parsed paragraph; longer ones are shown as written: hostile ones parse for seconds. */
const maxInline = 4000
/** Max length of a parsed text; longer ones are shown as written. */
const maxParsed = 200_000

/** Matches quotes and lists nested more than 32 deep, by their signs or their indentation. */
const tooDeep =
  /^(?:(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){33}|[ \t]{100,}(?:[-*+]|\d{1,9}[.)])[ \t])/m

/** Parses a whole text. Never throws: an unreadable text becomes one block, shown as written. */
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
