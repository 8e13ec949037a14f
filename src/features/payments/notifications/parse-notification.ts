import { normalizedText, withPlainDigits } from '#platform/normalized-text.ts'
import { compare } from '../money.ts'
import { noAmount, noReceipt, receipt, references, senders, unsure } from './notification-words.ts'
import { type FoundAmount, findAmounts } from './read-amounts.ts'

export interface Parsed {
  amount: string | null
  currency: string | null
  from: string | null
  reference: string | null
}

export const nothing: Parsed = { amount: null, currency: null, from: null, reference: null }

/** Max characters that are read. */
const readLength = 4000
/** Max characters before an amount that give its meaning. */
const contextLength = 40

/** Reads the income that a message reports; returns nothing if in doubt. */
export function parseNotification(message: string): Parsed {
  const written = message.slice(0, readLength)
  if (disguised.test(written)) return nothing
  const text = plain(written)
  const lower = text.toLowerCase()
  if (noReceipt.test(lower) || !receipt.test(lower)) return nothing
  const amounts = findAmounts(text)
  const candidates = amounts.filter(found => !noAmount.test(contextOf(lower, found)))
  const [found, second] = candidates
  if (found === undefined || second !== undefined || found.amount === null) return nothing
  if (amounts.some(other => other !== found && isLess(other, found))) return nothing
  if (unsure.test(sentenceAround(lower, found)) || /^[0.]*$/.test(found.amount)) return nothing
  const { amount, currency } = found
  const from = firstOf(senders, text.slice(0, found.start)) ?? firstOf(senders, text.slice(found.end)) ?? null
  return { amount, currency, from, reference: firstOf(references, text) ?? null }
}

/** Replaces digits, signs and blanks of all scripts by those of one. */
function plain(message: string): string {
  return withPlainDigits(normalizedText(message.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ''), 'NFKC'))
    .replaceAll('٫', '.')
    .replaceAll('٬', ',')
    .replaceAll('’', "'")
    .replaceAll(/[^\S\n]/g, ' ')
    .slice(0, readLength)
}

/**
 * Matches characters that show another number than is written: marks that change the direction of writing,
 * anything invisible or combining within digits, and digits that are raised, circled or parts of fractions.
 */
const disguised =
  /[\u202d\u202e]|\p{No}|\p{Nd}[.,' ]?[\p{M}\p{Default_Ignorable_Code_Point}]+(?=[.,' ]?\p{Nd}|$)|\p{Nd}\p{M}/u

/** Returns the sentence of an amount: words of other sentences are irrelevant to it. */
function sentenceAround(lower: string, { start, end }: FoundAmount): string {
  const before = lower.slice(0, start).split(sentenceEnd).at(-1) ?? ''
  return before + lower.slice(start, end) + (lower.slice(end).split(sentenceEnd)[0] ?? '')
}

const sentenceEnd = /(?:(?<=[^\s.]{3})\.\s|[!?。！？;]|\n)/

/** Returns the text before an amount, back to the number before it. */
function contextOf(lower: string, { start }: FoundAmount): string {
  return (
    lower
      .slice(Math.max(0, start - contextLength), start)
      .split(/\d/)
      .at(-1) ?? ''
  )
}

/** A balance below the received amount contradicts it. */
function isLess(balance: FoundAmount, { amount, currency }: FoundAmount): boolean {
  if (balance.amount === null || amount === null || balance.currency !== currency) return false
  return compare(balance.amount, amount) < 0
}

function firstOf(patterns: readonly RegExp[], text: string): string | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1]?.trim()
    if (found) return found
  }
  return undefined
}
