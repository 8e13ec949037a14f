/** What tells people apart. The keys are those that the unique indexes of the table are made of, see `contactKeys`. */

export const identifyingFields = [
  'email',
  'phone',
  'messenger_handle',
  'messenger_number',
  'external_id',
] as const
export type IdentifyingField = (typeof identifyingFields)[number]

export type Identity = { [Field in IdentifyingField]?: string | null | undefined }

const keyOf: Record<IdentifyingField, (value: string) => string> = {
  email: lower,
  phone: digits,
  messenger_handle: value => lower(value.replace(/^@/, '')),
  messenger_number: digits,
  external_id: value => value,
}

/** The key of each identifier that is there. */
export function keysOf(identity: Identity): [field: IdentifyingField, key: string][] {
  return identifyingFields.flatMap(field => {
    const key = keyOf[field](identity[field] ?? '')
    return key === '' ? [] : [[field, key] as [IdentifyingField, string]]
  })
}

/** As the databases' `lower`, which knows the letters of ASCII only. */
function lower(value: string): string {
  return value.replace(/[A-Z]+/g, letters => letters.toLowerCase())
}

function digits(value: string): string {
  return value.replace(/[ \-()./+]/g, '').replace(/^00/, '')
}

/** A phone number with plain blanks and hyphens in place of those of typographers; null for blanks alone. */
function plainNumber(value: string): string | null {
  const plain = value
    .replace(/[\s\u200b-\u200f\u2060\ufeff]+/g, ' ')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .trim()
  return plain === '' ? null : plain
}

/** A national number as E.164; any other, or one that is no number of that country, as it is. */
export async function internationalNumber(
  value: string,
  country: string | undefined,
): Promise<string | null> {
  const plain = plainNumber(value)
  if (plain === null || country === undefined || plain.startsWith('+') || plain.startsWith('00')) return plain
  // Its tables take 50 ms to load.
  const { isSupportedCountry, parsePhoneNumberFromString } = await import('libphonenumber-js/min')
  if (!isSupportedCountry(country)) return plain
  const number = parsePhoneNumberFromString(plain, country)
  return number?.isValid() ? number.number : plain
}
