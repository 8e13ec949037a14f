import { normalizedText } from '#platform/normalized-text.ts'
import { compare } from '../money.ts'
import { noAmount, noReceipt, receipt, references, senders } from './notification-words.ts'
import type { FoundAmount } from './read-amounts.ts'
import { findAmounts } from './read-amounts.ts'

export interface Parsed {
  amount: string | null
  currency: string | null
  from: string | null
  reference: string | null
}

export const nothing: Parsed = { amount: null, currency: null, from: null, reference: null }

/** Characters that are looked at. */
const readLength = 4000
/** Characters before an amount that say what it is. */
const contextLength = 40

/** Reads the income that a message reports; returns nothing rather than something wrong. */
export function parseNotification(message: string): Parsed {
  const text = plain(message.slice(0, readLength))
  const lower = text.toLowerCase()
  if (noReceipt.test(lower) || !receipt.test(lower)) return nothing
  const amounts = findAmounts(text)
  const candidates = amounts.filter(found => !noAmount.test(contextOf(lower, found)))
  const [found, second] = candidates
  if (found === undefined || second !== undefined || found.amount === null) return nothing
  if (amounts.some(other => other !== found && isLess(other, found))) return nothing
  const { amount, currency } = found
  const from = firstOf(senders, text.slice(0, found.start)) ?? firstOf(senders, text.slice(found.end)) ?? null
  return { amount, currency, from, reference: firstOf(references, text) ?? null }
}

/** Digits, signs and blanks of all scripts as those of one. */
function plain(message: string): string {
  return normalizedText(message, 'NFKC')
    .replaceAll(/[٠-٩۰-۹]/g, digit => String((digit.codePointAt(0) ?? 0) & 0xf))
    .replaceAll('٫', '.')
    .replaceAll('٬', ',')
    .replaceAll('’', "'")
    .replaceAll(/[^\S\n]/g, ' ')
    .slice(0, readLength)
}

/** The text before an amount, back to the number before it. */
function contextOf(lower: string, { start }: FoundAmount): string {
  return (
    lower
      .slice(Math.max(0, start - contextLength), start)
      .split(/\d/)
      .at(-1) ?? ''
  )
}

/** A balance that is less than what came in contradicts it. */
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
