/** The identifiers of people. The keys are those that the unique indexes of the table are made of, see `contactKeys`. */

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
