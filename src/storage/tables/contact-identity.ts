/** The identifiers of people: computes the keys that the unique indexes of the table are made of, see `contactKeys`. */
import { spellingsOf } from '#platform/phone-number.ts'

export const identifyingFields = [
  'email',
  'phone',
  'messenger_handle',
  'messenger_number',
  'external_id',
] as const
export type IdentifyingField = (typeof identifyingFields)[number]

export type Identity = { [Field in IdentifyingField]?: string | null | undefined }

/** A key, or a key of a field that several contacts can share. */
export type AddressKey = [field: IdentifyingField | 'social_handle', key: string]

const keyOf: Record<IdentifyingField, (value: string) => string> = {
  email: lower,
  phone: digits,
  messenger_handle: value => lower(value.replace(/^@/, '')),
  messenger_number: digits,
  external_id: value => value,
}

/** Returns the key of each identifier that is present. */
export function keysOf(identity: Identity): [field: IdentifyingField, key: string][] {
  return identifyingFields.flatMap(field => {
    const key = keyOf[field](identity[field] ?? '')
    return key === '' ? [] : [[field, key] as [IdentifyingField, string]]
  })
}

export function isNumber(field: string): boolean {
  return field === 'phone' || field === 'messenger_number'
}

/** Returns the keys that name the same person in this field; the first one is the same for all of them. */
export function keysLike(field: string, key: string): string[] {
  return isNumber(field) ? spellingsOf(key) : [key]
}

/** Returns texts that are equal if and only if they name the same person in the same field. */
export function peopleNamedBy(identity: Identity): string[] {
  return keysOf(identity).map(([field, key]) => `${field} ${keysLike(field, key)[0]}`)
}

/** Max former keys of one contact that are found. */
const maxFormerKeys = 1000

/** Returns the keys of contacts that were merged into one, from `metadata.merged`. */
export function formerKeysOf(metadata: Readonly<Record<string, unknown>>): AddressKey[] {
  const found = new Map<string, AddressKey>()
  const waiting: unknown[] = [metadata.merged]
  while (waiting.length > 0 && found.size < maxFormerKeys) {
    const next = waiting.pop()
    if (Array.isArray(next)) for (const entry of next) waiting.push(entry)
    else if (typeof next === 'object' && next !== null) {
      const texts = Object.entries(next).filter(([, value]) => typeof value === 'string')
      const merged: Identity & { social_handle?: string } = Object.fromEntries(texts)
      const handle = lower(merged.social_handle ?? '')
      const keys: AddressKey[] = [
        ...keysOf(merged),
        ...(handle === '' ? [] : [['social_handle', handle] as AddressKey]),
      ]
      for (const key of keys) found.set(key.join(' '), key)
      // Older versions wrote this for contacts that had been merged before.
      waiting.push((next as Record<string, unknown>)['metadata.merged'])
    }
  }
  return [...found.values()].slice(0, maxFormerKeys)
}

/** Lowers case like the databases' `lower`, which knows ASCII letters only. */
function lower(value: string): string {
  return value.replace(/[A-Z]+/g, letters => letters.toLowerCase())
}

function digits(value: string): string {
  return value.replace(/[ \-()./+]/g, '').replace(/^00/, '')
}
