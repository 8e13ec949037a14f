/** The spellings of telephone numbers: links, labels, trunk zeros, extensions and digits of any script. */
import type { CountryCode } from 'libphonenumber-js/min'
import { normalizedText, withPlainDigits } from './normalized-text.ts'

type Library = typeof import('libphonenumber-js/min')

interface WrittenNumber {
  /** The number with plain digits, blanks and hyphens. */
  plain: string
  /** The digits, after a `+` if they begin with a country's code. */
  compact: string
  /** True if a zero that is not dialled from abroad is in parentheses. */
  hasTrunkZero: boolean
  extension: string | undefined
}

/** Max length of a text; longer ones are not read. */
const maxLength = 200
/** The number of digits, of an id of WhatsApp as well, which replaces a number. */
const digitCount = { least: 3, most: 20 }

const link = /^(?:https?:\/\/)?(?:wa\.me\/|api\.whatsapp\.com\/send\/?\?phone=)(?:\+|%2b)?/i
const messengerId = /^(\d+)@(?:s\.whatsapp\.net|c\.us)$/i
const label =
  /^(?:tel(?:e(?:f|ph)one?)?|telefono|phone|ph|p|mobile?|mobiltelefon|mob|m|handy|cell|fon|t|whatsapp|wa|sms|callto)[.: ]+(?=[+(\d])/i
const context = /;phone-context=(\+[\d().-]+)/i
const parameters = /;(?!ext=)[a-z-]+=[^;]*/gi
const extensionWords =
  'extension|extn|ext|xtn|x|#|durchwahl|dw|nebenstelle|nst|apparat|app|poste|interno|int|anexo|ramal|доб'
const extensionPattern = new RegExp(
  `^(.*?)(?:(?:;ext=|[ ,;(/-]*(?:${extensionWords})[ .:=#-]*)(\\d{1,8})\\)?|[,;]+ ?(\\d{1,5}))$`,
  'iu',
)
/** A date in a column of numbers. */
const date = /^(?:19|20)\d\d-[01]\d-[0-3]\d$/
/** Two numbers; a slash can be within a number, too. */
const twoNumbers = /(?:\d\D*){7}\/(?:\D*\d){7}/

/** Removes invisible characters: soft hyphens, joiners, marks of direction and of byte order. */
export function withoutInvisible(text: string): string {
  return text.replace(/\p{Default_Ignorable_Code_Point}/gu, '')
}

/** Returns undefined for a text that is no telephone number. */
export function readNumber(text: string): WrittenNumber | undefined {
  if (text.length > maxLength) return undefined
  const digits = withPlainDigits(normalizedText(withoutInvisible(text), 'NFKC'))
  const spelled = digits
    .replace(/\s+/g, ' ')
    // The long vowel of Japanese is on the hyphen's key.
    .replace(/[\p{Pd}\u2212\u30fc]/gu, '-')
    .replace(/^[\s]+|[\s,;]+$/g, '')
  const base = context.exec(spelled)?.[1]
  const unlabelled = spelled
    .replace(link, '+')
    .replace(messengerId, '+$1')
    .replace(/['\u2019]/g, '')
    .replace(label, '')
    .replace(parameters, '')
    // Removes the fraction of a table that was saved with numbers instead of texts.
    .replace(/^(\+?\d{6,})\.0$/, '$1')
  const [, main = unlabelled, ending, short] = extensionPattern.exec(unlabelled) ?? []
  const plain = (base === undefined || main.startsWith('+') ? main : base + main).trim()
  if (
    date.test(plain) ||
    twoNumbers.test(plain) ||
    !/^[\d ()[\]./\\_~·•-]*\+{0,2}[\d ()[\]./\\_~·•-]+$/u.test(plain)
  )
    return undefined
  const compact = plain.replace(/[^\d+]/g, '').replace(/^\++(?:00)?/, '+')
  const count = compact.replace('+', '').length
  if (!/^\+?\d*[1-9]\d*$/.test(compact) || count < digitCount.least || count > digitCount.most)
    return undefined
  return { plain, compact, hasTrunkZero: /\d ?\(0\)/.test(plain), extension: ending ?? short }
}

/**
 * Returns the stored form of the number: E.164, or unchanged if that differs only in separators or no country
 * is known; an extension is at the end as ` ext. 12`. Undefined for a text that is no telephone number.
 * @param country the country, ISO 3166 alpha-2, of numbers without a country's code.
 */
export async function normalNumber(text: string, country: string | undefined): Promise<string | undefined> {
  const written = readNumber(text)
  if (written === undefined) return undefined
  const { plain, compact, hasTrunkZero, extension } = written
  const whole = await wholeNumber(written, country)
  const digits = whole ?? (hasTrunkZero ? plain.replace('(0)', '').replace(/[^\d+]/g, '') : compact)
  const isAsWritten = /^\+?[\d ()./-]+$/.test(plain) && digits === plain.replace(/[ ()./-]/g, '')
  const number = isAsWritten ? plain : digits
  return extension === undefined ? number : `${number} ext. ${extension}`
}

/** Returns E.164; undefined if no country is known, or the number is none of that country. */
async function wholeNumber({ compact, hasTrunkZero }: WrittenNumber, country: string | undefined) {
  // The library's tables take 50 ms to load.
  const library = await import('libphonenumber-js/min')
  const { isSupportedCountry, parsePhoneNumberFromString: parse } = library
  const abroad = /^(?:\+|00)(.+)/.exec(compact)?.[1]
  const whole = abroad === undefined && !hasTrunkZero ? undefined : parse(`+${abroad ?? compact}`)
  // Without a zero that is not dialled, if the country has none.
  const without = whole && parse(`+${whole.countryCallingCode}${whole.nationalNumber.replace(/^0/, '')}`)
  if (without?.isValid() && !whole?.isValid()) return without.number
  if (whole?.isPossible()) return whole.number
  if (compact.startsWith('+')) return undefined
  if (country !== undefined && isSupportedCountry(country)) return nationalNumber(library, compact, country)
  // The number after North America's prefix; a town with this code of its own has shorter numbers.
  const number = /^011\d{10,}$/.test(compact) ? parse(`+${compact.slice(3)}`) : undefined
  return number?.isValid() ? number.number : undefined
}

/** Returns true if the national numbers of a country, ISO 3166 alpha-2, are known. */
export async function hasNumbers(country: string): Promise<boolean> {
  return (await import('libphonenumber-js/min')).isSupportedCountry(country)
}

function nationalNumber(
  { parsePhoneNumberFromString: parse }: Library,
  compact: string,
  country: CountryCode,
): string | undefined {
  // Mexico's former trunk prefixes, which the tables no longer have.
  const dialled = country === 'MX' ? compact.replace(/^0(?:1|4[45])(?=\d{10}$)/, '') : compact
  const national = parse(dialled, country)
  // The number if the sign before the country's code was left out.
  const signed = compact.startsWith('0') ? undefined : parse(`+${compact}`)
  if (signed?.isValid() && signed.countryCallingCode === national?.countryCallingCode) return signed.number
  // That many digits are a number of another country, rather than a national one without its zero.
  if (signed?.isPossible() && compact.length >= 12) return undefined
  if (national?.isValid()) return national.number
  const withoutZero = compact.startsWith('0') ? parse(compact.slice(1), country) : undefined
  if (withoutZero?.isValid()) return withoutZero.number
  return compact.startsWith('0') && national?.isPossible() ? national.number : undefined
}

/**
 * Returns the numbers, in digits, of the same person on WhatsApp: with and without Argentina's 9, Mexico's 1
 * and the ninth digit of Brazil's mobile numbers. The shortest one comes first.
 */
export function spellingsOf(number: string): string[] {
  const [, digits = '', extension = ''] = /^(\d*)(.*)$/s.exec(number) ?? []
  const [, before, added, after] =
    /^(54)(9?)(\d{10})$/.exec(digits) ??
    /^(52)(1?)(\d{10})$/.exec(digits) ??
    /^(55\d\d)(9?)([6-9]\d{7})$/.exec(digits) ??
    []
  if (before === undefined || added === undefined || after === undefined) return [number]
  const sign = added || { 54: '9', 52: '1' }[before] || '9'
  return [before + after + extension, before + sign + after + extension]
}
