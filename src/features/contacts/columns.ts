import { isDeeperThan, maxLevels } from '#platform/json-depth.ts'
import type { NewContact } from './contacts.schema.ts'

/** The meaning of an address book's column; `metadata` holds what an export wrote, `other` is kept under its header. */
type Meaning = Exclude<keyof NewContact, 'name'> | 'name' | 'first' | 'middle' | 'last' | 'other'

/** Headers in the words of address books, in lower case without blanks, `_` and `-`; of several, the first filled one counts. */
const aliases: Partial<Record<Meaning, readonly string[]>> = {
  name: ['name', 'fullname', 'displayname'],
  first: ['first', 'firstname', 'givenname'],
  middle: ['middle', 'middlename', 'additionalname'],
  last: ['last', 'lastname', 'familyname', 'surname'],
  email: ['email', 'emailaddress', 'primaryemail', 'email1value'],
  phone: [
    'phone',
    'phonenumber',
    'mobile',
    'mobilephone',
    'mobilenumber',
    'phone1value',
    'phone1',
    'homephone',
    'workphone',
    'businessphone',
  ],
  messenger_handle: ['messengerhandle', 'telegram', 'telegramusername'],
  messenger_number: ['messengernumber', 'whatsapp', 'whatsappnumber'],
  social_handle: ['socialhandle'],
  external_id: ['externalid', 'id'],
  notes: ['notes'],
  tags: ['tags', 'labels', 'groupmembership'],
  metadata: ['metadata'],
}

export interface Column {
  header: string
  meaning: Meaning
  /** Among columns of one meaning, the lowest filled one counts. */
  rank: number
}

const meanings = new Map(
  Object.entries(aliases).flatMap(([meaning, headers]) =>
    headers.map((header, rank) => [header, { meaning: meaning as Meaning, rank }] as const),
  ),
)

export function columnsOf(headers: readonly string[]): Column[] {
  return headers.map((header, index) => {
    const known = meanings.get(header.toLowerCase().replace(/[\s_-]/g, ''))
    return { header: header.trim() || `Column ${index + 1}`, ...(known ?? { meaning: 'other', rank: 0 }) }
  })
}

export function isKnown(columns: readonly Column[]): boolean {
  return columns.some(({ meaning }) => meaning !== 'other')
}

interface Cell extends Column {
  value: string
}

/** The contact in a row. Nothing is dropped: what has no field of its own stands in `metadata`. Empty cells say nothing. */
export function contactIn(columns: readonly Column[], cells: readonly string[]): Partial<NewContact> {
  const filled = cells.flatMap((cell, index): Cell[] => {
    const value = withoutDefusal(cell).trim()
    const unnamed = { header: `Column ${index + 1}`, meaning: 'other' as const, rank: 0 }
    return value === '' ? [] : [{ ...(columns[index] ?? unnamed), value }]
  })
  const of = (meaning: Meaning) =>
    filled.filter(cell => cell.meaning === meaning).toSorted((one, other) => one.rank - other.rank)
  const kept: [header: string, value: unknown][] = []
  const fields: Record<string, string> = {}
  for (const meaning of Object.keys(aliases) as Meaning[]) {
    if (meaning === 'tags' || meaning === 'metadata') continue
    const [first, ...rest] = of(meaning)
    if (first !== undefined) fields[meaning] = first.value
    kept.push(...rest.map(entryOf))
  }
  kept.push(...of('other').map(entryOf))
  for (const { header, value } of of('metadata'))
    kept.push(...Object.entries(objectIn(value) ?? { [header]: value }))
  // For all headers, also `__proto__`.
  const metadata = Object.fromEntries(kept)
  const { name, first, middle, last, ...identifiers } = fields
  const joined = [first, middle, last].filter(part => part !== undefined).join(' ')
  const tags = of('tags').flatMap(({ value }) => tagsIn(value))
  return {
    ...identifiers,
    ...(name || joined ? { name: name ?? joined } : {}),
    ...(tags.length > 0 ? { tags } : {}),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  }
}

function entryOf({ header, value }: Cell): [header: string, value: unknown] {
  return [header, value]
}

/** A JSON array, or texts between commas, semicolons or the separator of Google's labels. */
function tagsIn(cell: string): string[] {
  const array = cell.startsWith('[') ? parsed(cell) : undefined
  if (Array.isArray(array)) return array.map(String)
  const texts = cell.split(/ ::: |[,;]/).map(text => text.trim())
  return texts.filter(text => text !== '' && text !== '* myContacts')
}

function objectIn(cell: string): object | undefined {
  const value = parsed(cell)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}

function parsed(json: string): unknown {
  try {
    return isDeeperThan(maxLevels, json) ? undefined : JSON.parse(json)
  } catch {
    return undefined
  }
}

const phoneNumber = /^\+[\d ().\-/]+$/

/** A cell that a spreadsheet would take for a formula begins with an apostrophe. */
export function defused(cell: string): string {
  return /^'*[=+\-@\t\r]/.test(cell) && !phoneNumber.test(cell) ? `'${cell}` : cell
}

function withoutDefusal(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell
}
