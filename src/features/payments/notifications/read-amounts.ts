import { canonical, decimalsOf } from '../money.ts'
import { commaIsAmbiguous, pointForThousands, signs } from './notification-words.ts'

/** An amount with its place in a text. */
export interface FoundAmount {
  /** Null if it has two readings. */
  amount: string | null
  /** Null if its sign belongs to several currencies. */
  currency: string | null
  /** The place of the amount with its currency. */
  start: number
  end: number
}

const codes = new Set(Intl.supportedValuesOf('currency'))
const longestSign = Math.max(...Object.keys(signs).map(sign => sign.length))

/** Returns the numbers beside a currency, in order. */
export function findAmounts(text: string): FoundAmount[] {
  const found: FoundAmount[] = []
  for (let at = 0; at < text.length; at += 1) {
    if (!isDigit(text[at])) continue
    const end = endOfNumber(text, at)
    const before = currencyBefore(text, at)
    const after = currencyAfter(text, end)
    const currency = after?.currency ?? before?.currency ?? null
    if (before !== undefined || after !== undefined) {
      const start = at - (before?.length ?? 0)
      const place = { start, end: end + (after?.length ?? 0), at, digitsEnd: end }
      const amount = isOdd(text, place) ? null : readNumber(text.slice(at, end), currency)
      found.push({ amount, currency, start: place.start, end: place.end })
    }
    at = end - 1
  }
  return found
}

/** Matches before an amount: a sign, a part of a larger number, or a factor. */
const oddBefore = /(?:[-\u2010-\u2015\u2212~<>≈^*/×]|[*×]\s|\b\d+ ?x ?)$/i
/** Matches right before the digits, without a currency there. */
const oddBeforeDigits = /(?:[.,']|\p{L}|\p{M})$/u
/** Matches after an amount: a factor, a power, a fraction, a percentage, or a sign. */
const oddBehind =
  /^(?:e[-+]?\d|\s?(?:k|m|b|bn|mn|mio|mrd|lakhs?|lacs?|crores?|cr|mil|thousand|million|billion|tausend|millionen)(?![\p{L}\d])|\s?[万千億亿百만천%‰^*×]|\/\d|[.,']{2}|[-\u2212](?=[\s.,;]|$))/iu

interface Place {
  /** The place of the amount with its currency. */
  start: number
  end: number
  /** The place of the digits. */
  at: number
  digitsEnd: number
}

/** Returns true if the text around the digits, or a zero before them, might make another number. */
function isOdd(text: string, { start, end, at, digitsEnd }: Place): boolean {
  const before = text.slice(Math.max(0, start - 8), start)
  const isNegative = text[at - 1] === '(' && text[digitsEnd] === ')'
  return (
    isNegative ||
    /^0\d/.test(text.slice(at, digitsEnd)) ||
    oddBefore.test(before) ||
    (start === at && oddBeforeDigits.test(before)) ||
    oddBehind.test(text.slice(digitsEnd, digitsEnd + 12)) ||
    oddBehind.test(text.slice(end, end + 12))
  )
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9'
}

/** Returns the end of digits with separators; a space is one before exactly three digits. */
function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (end < text.length) {
    const isSeparator = ".,'".includes(text[end] ?? '') && isDigit(text[end + 1])
    const isGap = text[end] === ' ' && /^\d{3}(?!\d)/.test(text.slice(end + 1, end + 5))
    if (!isDigit(text[end]) && !isSeparator && !isGap) break
    end += 1
  }
  return end
}

interface Named {
  currency: string | null
  length: number
}

function currencyBefore(text: string, at: number): Named | undefined {
  const window = text.slice(Math.max(0, at - longestSign - 1), at)
  const word = window.trimEnd()
  for (let length = Math.min(longestSign, word.length); length > 0; length -= 1) {
    const currency = currencyOf(word.slice(-length))
    const isWhole = !(
      /\p{L}/u.test(word.at(-length) ?? '') &&
      /\p{L}/u.test(text[at - (window.length - word.length) - length - 1] ?? '')
    )
    if (currency !== undefined && isWhole) return { currency, length: length + window.length - word.length }
  }
  return undefined
}

function currencyAfter(text: string, at: number): Named | undefined {
  const window = text.slice(at, at + longestSign + 2)
  const word = window.trimStart()
  for (let length = Math.min(longestSign, word.length); length > 0; length -= 1) {
    const currency = currencyOf(word.slice(0, length))
    const isWhole = !(/[a-z]/i.test(word[length - 1] ?? '') && /\p{L}/u.test(word[length] ?? ''))
    // The South African sign is only before its number.
    if (currency !== undefined && isWhole && length + window.length - word.length > 1)
      return { currency, length: length + window.length - word.length }
    if (currency !== undefined && isWhole && !/[a-z]/i.test(word[0] ?? '')) return { currency, length }
  }
  return undefined
}

function currencyOf(word: string): string | null | undefined {
  const sign = signs[word.toLowerCase()]
  if (sign !== undefined) return sign
  return codes.has(word) ? word : undefined
}

/** Returns null for ambiguous separators: no amount is better than a wrong one. */
function readNumber(text: string, currency: string | null): string | null {
  const groups = text.split(/[.,' ]/)
  const marks = text.replaceAll(/\d/g, '')
  const last = marks.at(-1)
  const fraction = groups.at(-1) ?? ''
  const decimals = decimalsOf(currency ?? 'USD')
  const whole = (parts: readonly string[]) => parts.join('')
  const isMark = last === '.' || last === ','
  const isDecimal =
    isMark && marks.indexOf(last) === marks.length - 1 && isFraction(fraction, marks, { currency, decimals })
  const parts = isDecimal ? groups.slice(0, -1) : groups
  const separators = isDecimal ? marks.slice(0, -1) : marks
  if (isDecimal && decimals === 0) return null
  if (!areThousands(parts, separators)) return null
  if (!isDecimal && marks.length === 1 && isMark && decimals !== 3 && isAmbiguous(last, currency)) return null
  const amount = isDecimal ? `${whole(parts)}.${fraction}` : whole(parts)
  return whole(parts).length > 15 ? null : canonical(amount, currency ?? 'USD')
}

function isFraction(
  fraction: string,
  marks: string,
  { currency, decimals }: { currency: string | null; decimals: number },
) {
  if (fraction.length <= 2) return true
  // Thousands and decimals would have equal lengths.
  if (decimals === 3 && fraction.length === 3) return new Set(marks).size === marks.length
  return (currency?.length ?? 0) > 3 && fraction.length > 3
}

/** Returns true for equally separated groups of three digits after the first, or the Indian form. */
function areThousands([first = '', ...others]: readonly string[], separators: string): boolean {
  if (others.length === 0) return true
  if (new Set(separators).size > 1 || first.length > 3) return false
  const isIndian = others.slice(0, -1).every(group => group.length === 2)
  return others.at(-1)?.length === 3 && (isIndian || others.every(group => group.length === 3))
}

/** Returns true if a single mark before three digits might separate decimals. */
function isAmbiguous(mark: string, currency: string | null): boolean {
  if (currency === null) return true
  return mark === '.'
    ? !pointForThousands.has(currency) && decimalsOf(currency) > 0
    : commaIsAmbiguous.has(currency)
}
