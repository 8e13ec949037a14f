import { type Kysely, type Selectable, type SqlBool, sql } from 'kysely'
import { mapInTurns, takeTurns } from '#platform/event-loop/turns.ts'
import { parseJson } from '#platform/exact-json.ts'
import { fitting, listLarge } from '#platform/http/lists/list-large.ts'
import { listOf } from '#platform/http/lists/list-of.ts'
import {
  type AddressKey,
  formerKeysOf,
  type IdentifyingField,
  isNumber,
  keysLike,
  keysOf,
} from '#storage/tables/contact-identity.ts'
import { contactKeys, contactTables } from '#storage/tables/contacts.ts'
import type { AgentTables } from '#storage/tables.ts'
import { type Contact, type ContactListQuery, contactSchema } from './contacts.schema.ts'

type Database = Kysely<AgentTables>
type ContactRow = Selectable<AgentTables['contacts']>

/** Max rows and bytes read at a time, so that other requests need not wait. */
const pageRows = 200
const pageBytes = 500_000

/** Max bytes of a list in memory. */
const listBytes = 32_000_000

const columns = Object.keys(contactSchema.properties) as (keyof Contact)[]

const size = sql<number>`octet_length(name) + octet_length(tags) + octet_length(metadata) + coalesce(octet_length(notes), 0)`

/** The columns that contacts are listed by. */
const placeColumns = ['id', 'name', 'email', 'phone', 'external_id', 'created_at', 'updated_at'] as const

const contactList = listOf(contactTables.columns.contacts, {
  sortable: [...placeColumns],
  searchable: ['name', 'email', 'phone'],
})

export async function listContacts(database: Database, { tag = [], ...parameters }: ContactListQuery) {
  const places = database.selectFrom('contacts').select([...placeColumns, size.as('size')])
  // Within a JSON array, a text is between quotes, and its own quotes are escaped.
  const hasTag = (one: string) => sql<SqlBool>`replace(tags, ${JSON.stringify(one)}, '') <> tags`
  const wanted = tag.length === 0 ? places : places.where(({ or }) => or(tag.map(hasTag)))
  const read = (ids: readonly string[]) => readById(database, ids)
  return await listLarge(wanted, contactList, parameters, { key: 'id', read, maxBytes: listBytes })
}

/** Returns contacts in any order. */
export async function readById(database: Database, ids: readonly string[]): Promise<Contact[]> {
  const rows = await database.selectFrom('contacts').select(columns).where('id', 'in', ids).execute()
  return await mapInTurns(rows, toContact)
}

export async function findContact(database: Database, id: string): Promise<Contact | undefined> {
  const row = await database.selectFrom('contacts').select(columns).where('id', '=', id).executeTakeFirst()
  return row && toContact(row)
}

/** Finds contacts by keys in this field: exact ones first, then other spellings, then merged contacts. */
export async function findByKeys(database: Database, field: IdentifyingField, keys: readonly string[]) {
  const like = [...new Set(keys.flatMap(key => keysLike(field, key)))]
  const rows = await database
    .selectFrom('contacts')
    .select(columns)
    .where(({ eb }) => eb(keyIn(field), 'in', like))
    .execute()
  const isExact = (contact: Contact) =>
    keysOf(contact).some(([of, key]) => of === field && keys.includes(key))
  const found = rows.map(toContact).toSorted((one, other) => Number(isExact(other)) - Number(isExact(one)))
  return [...found, ...(await findFormer(database, field, like))]
}

/** Finds contacts with a number that differs only in its extension, which one of the two lacks. */
export async function findByExtension(database: Database, field: IdentifyingField, key: string) {
  if (!isNumber(field)) return []
  const [main = '', extension] = key.split('ext')
  const rows = await database
    .selectFrom('contacts')
    .select(columns)
    .where(({ eb }) =>
      extension === undefined
        ? eb.between(keyIn(field), `${main}ext`, `${main}exu`)
        : eb(keyIn(field), 'in', keysLike(field, main)),
    )
    .limit(2)
    .execute()
  return rows.map(toContact)
}

function keyIn(field: IdentifyingField) {
  return sql<string>`(${sql.raw(contactKeys[field])})`
}

/** Returns the contacts into which one with this key was merged. */
async function findFormer(database: Database, field: AddressKey[0], keys: readonly string[]) {
  const rows = await database
    .selectFrom('contacts')
    .select(columns)
    .where('id', 'in', of =>
      of
        .selectFrom('contact_addresses')
        .select('contact_id')
        .where('field', '=', field)
        .where('key', 'in', keys),
    )
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toContact)
}

/** Returns the oldest contact with the handle, because several can have the same. */
export async function findBySocialHandle(database: Database, handle: string): Promise<Contact | undefined> {
  const row = await database
    .selectFrom('contacts')
    .select(columns)
    .where(sql<string>`lower(social_handle)`, '=', handle.toLowerCase())
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (row !== undefined) return toContact(row)
  const [former] = await findFormer(database, 'social_handle', [handle.toLowerCase()])
  return former
}

/** Yields all contacts, or those of one name, by name. */
export async function* readContacts(database: Database, name?: string): AsyncGenerator<Contact, undefined> {
  let places = database
    .selectFrom('contacts')
    .select(['id', 'name', size.as('size')])
    .orderBy('name')
    .orderBy('id')
    .limit(pageRows)
  if (name !== undefined) places = places.where('name', '=', name)
  const turn = takeTurns()
  for (let found = await places.execute(); found.length > 0; ) {
    const page = found.slice(
      0,
      fitting(found, place => place.size, pageBytes),
    )
    const ids = page.map(({ id }) => id)
    for (const contact of inOrderOf(ids, await readById(database, ids))) {
      yield contact
      if (turn.isOver()) await turn.next()
    }
    const last = page.at(-1)
    found = await places.where(sql<SqlBool>`(name, id) > (${last?.name}, ${last?.id})`).execute()
  }
}

/** Sorts contacts by ids, without deleted ones. */
export function inOrderOf(ids: readonly string[], contacts: readonly Contact[]): Contact[] {
  const byId = new Map(contacts.map(contact => [contact.id, contact]))
  return ids.flatMap(id => byId.get(id) ?? [])
}

export async function insertContacts(database: Database, contacts: readonly Contact[]): Promise<void> {
  if (contacts.length === 0) return
  await database.insertInto('contacts').values(contacts.map(toRow)).execute()
  for (const contact of contacts) await insertFormerKeys(database, contact)
}

export async function updateContact(database: Database, contact: Contact): Promise<void> {
  await database.updateTable('contacts').set(toRow(contact)).where('id', '=', contact.id).execute()
  await deleteFormerKeys(database, contact.id)
  await insertFormerKeys(database, contact)
}

/** Returns false if there is none. */
export async function deleteContact(database: Database, id: string): Promise<boolean> {
  const { numDeletedRows } = await database.deleteFrom('contacts').where('id', '=', id).executeTakeFirst()
  await deleteFormerKeys(database, id)
  return numDeletedRows > 0n
}

async function insertFormerKeys(database: Database, { id, metadata }: Contact): Promise<void> {
  const former = formerKeysOf(metadata).map(([field, key]) => ({ field, key, contact_id: id }))
  if (former.length > 0) await database.insertInto('contact_addresses').values(former).execute()
}

async function deleteFormerKeys(database: Database, id: string): Promise<void> {
  await database.deleteFrom('contact_addresses').where('contact_id', '=', id).execute()
}

/** Moves the threads of a merged contact to the remaining one. */
export async function moveThreads(database: Database, from: string, to: string): Promise<void> {
  await database
    .updateTable('channel_threads')
    .set({ contact_id: to })
    .where('contact_id', '=', from)
    .execute()
}

function toRow(contact: Contact): ContactRow {
  return { ...contact, tags: JSON.stringify(contact.tags), metadata: JSON.stringify(contact.metadata) }
}

/** Reads any value that SQL might have written into the two columns, without loss. */
function toContact(row: ContactRow): Contact {
  const tags = parsed(row.tags)
  const metadata = parsed(row.metadata)
  const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
  return {
    ...row,
    tags: Array.isArray(tags) ? tags.map(String) : [row.tags],
    metadata: isObject ? (metadata as Contact['metadata']) : { value: metadata },
  }
}

function parsed(json: string): unknown {
  try {
    return parseJson(json)
  } catch {
    return json
  }
}
