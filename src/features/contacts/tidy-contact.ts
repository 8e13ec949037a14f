import { normalNumber, withoutInvisible } from '#platform/phone-number.ts'
import { type ContactChanges, plainFields } from './contacts.schema.ts'

const numbers = ['phone', 'messenger_number'] as const
/** Fields in which invisible characters have no meaning. */
const addresses = new Set<string>([...numbers, 'email', 'messenger_handle', 'social_handle'])

/** A field whose text is no telephone number. */
export interface Unread {
  field: (typeof numbers)[number]
  text: string
}

/**
 * Blank texts become null, addresses lose invisible characters, and numbers get one form: national ones as
 * E.164. Invalid numbers are left out and returned as `unread`.
 * @param country of national numbers, ISO 3166 alpha-2.
 */
export async function tidied<Fields extends ContactChanges>(
  givenFields: Fields,
  country: string | undefined,
): Promise<{ fields: Fields; unread: Unread[] }> {
  const fields: Fields = { ...givenFields }
  const unread: Unread[] = []
  for (const field of plainFields) {
    const value = fields[field]
    if (value !== undefined) Object.assign(fields, { [field]: trimmed(field, value) })
  }
  for (const field of numbers) {
    const text = fields[field]
    if (!text) continue
    // WhatsApp writes numbers with their country's code, and without a sign before it.
    const isNational = field === 'phone' || /^\D*0/.test(text)
    const number = await normalNumber(text, isNational ? country : undefined)
    if (number === undefined) unread.push({ field, text })
    if (number === undefined) delete fields[field]
    else fields[field] = number
  }
  return { fields, unread }
}

function trimmed(field: string, value: string | null): string | null {
  const visible = value !== null && addresses.has(field) ? withoutInvisible(value) : value
  return visible?.trim().replace(field === 'email' ? /^mailto:/i : '', '') || null
}
