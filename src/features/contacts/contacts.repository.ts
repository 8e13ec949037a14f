import type { Kysely, Selectable, SqlBool } from 'kysely'
import { sql } from 'kysely'
import { listOf } from '#platform/http/lists/list-of.ts'
import { listRows } from '#platform/http/lists/list-query.ts'
import { contactKeys, contactTables } from '#storage/tables/contacts.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Contact, ContactListQuery } from './contacts.schema.ts'
import { contactSchema, plainFields } from './contacts.schema.ts'
import type { IdentifyingField } from './identity.ts'

type Database = Kysely<AgentTables>
type ContactRow = Selectable<AgentTables['contacts']>

/** Read at a time, so that nobody waits for it. */
const pageRows = 200

const columns = Object.keys(contactSchema.properties) as (keyof Contact)[]

const contactList = listOf(contactTables.columns.contacts, {
  sortable: ['id', 'name', 'email', 'phone', 'external_id', 'created_at', 'updated_at'],
  searchable: ['name', 'email', 'phone'],
})

export async function listContacts(database: Database, { tag = [], ...parameters }: ContactListQuery) {
  const all = database.selectFrom('contacts').select(columns)
  // Within a JSON array a text stands between quotes, and has none that is not escaped.
  const hasTag = (one: string) => sql<SqlBool>`replace(tags, ${JSON.stringify(one)}, '') <> tags`
  const query = tag.length === 0 ? all : all.where(({ or }) => or(tag.map(hasTag)))
  const { rows, meta } = await listRows(query, contactList, parameters)
  return { rows: rows.map(toContact), meta }
}

export async function findContact(database: Database, id: string): Promise<Contact | undefined> {
  const row = await database.selectFrom('contacts').select(columns).where('id', '=', id).executeTakeFirst()
  return row && toContact(row)
}

/** Those with one of the keys in this field. */
export async function findByKeys(database: Database, field: IdentifyingField, keys: readonly string[]) {
  const key = sql<string>`(${sql.raw(contactKeys[field])})`
  const rows = await database
    .selectFrom('contacts')
    .select(columns)
    .where(({ eb }) => eb(key, 'in', keys))
    .execute()
  return rows.map(toContact)
}

/** The one who has had it for longest, since nothing keeps several from having the same. */
export async function findBySocialHandle(database: Database, handle: string): Promise<Contact | undefined> {
  const row = await database
    .selectFrom('contacts')
    .select(columns)
    .where(sql<string>`lower(social_handle)`, '=', handle.toLowerCase())
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return row && toContact(row)
}

/**
 * All contacts, or those with one of these names, by name and then by what they say: so the same contacts come in the same
 * order, whatever their ids are.
 */
export async function* readContacts(
  database: Database,
  names?: readonly string[],
): AsyncGenerator<Contact, undefined> {
  const [, ...others] = [...plainFields, 'tags', 'metadata'] as const
  const content = sql`name, ${sql.join(others.map(column => sql`coalesce(${sql.ref(column)}, '')`))}, id`
  let all = database.selectFrom('contacts').select(columns).orderBy(content).limit(pageRows)
  if (names !== undefined) all = all.where('name', 'in', names)
  for (let page = await all.execute(); ; ) {
    yield* page.map(toContact)
    const last = page.at(-1)
    if (last === undefined || page.length < pageRows) return
    const values = [last.name, ...others.map(column => last[column] ?? ''), last.id]
    const rest = all.where('name', '>=', last.name).where(sql<SqlBool>`(${content}) > (${sql.join(values)})`)
    page = await rest.execute()
  }
}

export async function insertContacts(database: Database, contacts: readonly Contact[]): Promise<void> {
  if (contacts.length > 0) await database.insertInto('contacts').values(contacts.map(toRow)).execute()
}

export async function updateContact(database: Database, contact: Contact): Promise<void> {
  await database.updateTable('contacts').set(toRow(contact)).where('id', '=', contact.id).execute()
}

/** False if there is none. */
export async function deleteContact(database: Database, id: string): Promise<boolean> {
  const { numDeletedRows } = await database.deleteFrom('contacts').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** What people have written on channels goes to the contact that two were made one of. */
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

/** SQL may have written anything into the two columns: nothing of it is lost. */
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
    return JSON.parse(json)
  } catch {
    return json
  }
}
