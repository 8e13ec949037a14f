import type { ContactChanges } from './contacts.schema.ts'
import { plainFields } from './contacts.schema.ts'

/**
 * Blank texts become null, and numbers are written in one way: national ones as E.164.
 * @param country whose national numbers they are, ISO 3166 alpha-2.
 */
export async function tidied<Fields extends ContactChanges>(
  fields: Fields,
  country: string | undefined,
): Promise<Fields> {
  const normal: Fields = { ...fields }
  for (const field of plainFields) {
    const value = fields[field]
    if (value !== undefined) Object.assign(normal, { [field]: value?.trim() || null })
  }
  const { phone, messenger_number: number } = normal
  if (phone) normal.phone = await internationalNumber(phone, country)
  // WhatsApp writes numbers with their country's code, and without a sign before it.
  if (number)
    normal.messenger_number = await internationalNumber(number, number.startsWith('0') ? country : undefined)
  return normal
}

/** Any other number, or one that is none of that country, as it is. */
async function internationalNumber(value: string, country: string | undefined): Promise<string | null> {
  const plain = plainNumber(value)
  if (plain === null || country === undefined || plain.startsWith('+') || plain.startsWith('00')) return plain
  // Its tables take 50 ms to load.
  const { isSupportedCountry, parsePhoneNumberFromString: parse } = await import('libphonenumber-js/min')
  if (!isSupportedCountry(country)) return plain
  const national = parse(plain, country)
  // Where the sign before the country's code was left out.
  const whole = plain.startsWith('0') ? undefined : parse(`+${plain}`)
  const isWhole = whole?.isValid() && whole.countryCallingCode === national?.countryCallingCode
  const number = isWhole ? whole : national
  return number?.isValid() ? number.number : plain
}

/** A phone number with plain blanks and hyphens in place of those of typographers; null for blanks alone. */
function plainNumber(value: string): string | null {
  const plain = value
    .replace(/[\s\u200b-\u200f\u2060\ufeff]+/g, ' ')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .trim()
  return plain === '' ? null : plain
}
