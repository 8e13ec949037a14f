import { type Contact, plainFields } from './contacts.schema.ts'

/** Merges two contacts: `from` fills gaps of `into`; other differences are kept in `metadata.merged`. */
export function mergeContacts(into: Contact, from: Contact): Contact {
  const merged: Contact = {
    ...into,
    tags: [...new Set([...into.tags, ...from.tags])],
    metadata: { ...from.metadata, ...into.metadata },
  }
  const lost: Record<string, unknown> = { id: from.id }
  for (const field of plainFields) {
    if (from[field] === null || from[field] === into[field]) continue
    if (into[field] === null) Object.assign(merged, { [field]: from[field] })
    else lost[field] = from[field]
  }
  const { merged: intoBefore = [], ...intoOther } = into.metadata
  const { merged: fromBefore = [], ...fromOther } = from.metadata
  for (const [key, value] of Object.entries(fromOther))
    if (Object.hasOwn(intoOther, key) && JSON.stringify(intoOther[key]) !== JSON.stringify(value))
      lost[`metadata.${key}`] = value
  return { ...merged, metadata: { ...merged.metadata, merged: [intoBefore, fromBefore, lost].flat() } }
}
