import { createHash } from 'node:crypto'
import {
  formerKeysOf,
  identifyingFields,
  keysLike,
  keysOf,
  peopleNamedBy,
} from '#storage/tables/contact-identity.ts'
import type { AgentDatabase as Database } from '#storage/tables.ts'
import { findByKeys, readContacts } from './contacts.repository.ts'
import { type Contact, type ImportReport, type NewContact, plainFields } from './contacts.schema.ts'
import { distinct, newContact } from './contacts.service.ts'

/** A row of a file, with a field that names a person. */
export interface Row {
  line: number
  fields: Partial<NewContact>
  /** Cells without a number in columns of numbers, with headers; they are added to the notes. */
  unread?: string
}

/** Number of rows by content, for rows without identifiers. */
type Counts = Map<string, number>

/** Contents of all rows of a file so far, and of the contacts that existed before the import. */
export type Said = ReturnType<typeof createSaid>

export function createSaid() {
  const before: Counts = new Map()
  const names = new Set<string>()
  const byRows: Counts = new Map()
  return {
    /** Reads the contacts of new names; must be called before any of the rows is stored. */
    async learn(database: Database, rows: readonly Row[]): Promise<void> {
      for (const { fields } of rows) {
        const name = nameOf(fields)
        if (names.has(name) || keysOf(fields).length > 0) continue
        names.add(name)
        for await (const contact of readContacts(database, name)) count(before, saidBy(contact))
      }
    },
    /** Returns true if the row is one of the existing contacts; `now` counts rows not yet added. */
    isThere: (content: string, now: Counts) =>
      (byRows.get(content) ?? 0) + (now.get(content) ?? 0) <= (before.get(content) ?? 0),
    add(counts: Counts): void {
      for (const [content, times] of counts) count(byRows, content, times)
    },
  }
}

interface Options {
  /** The contents, after `learn` for these rows. */
  said: Said
  newId(): string
  /** ISO 8601. */
  now: string
}

/** The changes that some rows need. */
export interface Plan {
  added: Contact[]
  updated: Contact[]
  /** Number of rows; several can update one contact, or repeat one without identifiers. */
  updatedRows: number
  errors: ImportReport['errors']
  /** Contents of these rows. */
  said: Counts
}

/**
 * A row updates the contact that it identifies. A row without identifiers is an existing contact with the
 * same content, as long as the file has not named all of those; so a repeated import does not add it again.
 */
export async function planImport(
  database: Database,
  rows: readonly Row[],
  { said, newId, now }: Options,
): Promise<Plan> {
  const known = await findKnown(database, rows)
  const updated = new Map<string, Contact>()
  const plan: Plan = { added: [], updated: [], updatedRows: 0, errors: [], said: new Map() }
  for (const { line, fields, unread } of rows) {
    const keys = peopleNamedBy(fields)
    const matches = new Map(keys.flatMap(key => known.get(key) ?? []).map(one => [one.id, one]))
    const [contact] = matches.values()
    if (matches.size > 1) {
      const issue = 'the identifiers of this row belong to different contacts; merge these first'
      plan.errors.push({ line, field: '', issue })
    } else if (contact !== undefined) {
      const changed = { ...withRow(contact, fields, unread), updated_at: now }
      // A later row can name the same contact by another identifier.
      for (const key of [...formerOf(contact), ...peopleNamedBy(contact), ...peopleNamedBy(changed)])
        known.set(key, changed)
      updated.set(contact.id, changed)
      plan.updatedRows += 1
    } else {
      const added = newContact(newId(), { ...withUnread(fields, unread), name: nameOf(fields) }, now)
      if (keys.length === 0 && isThere(added, said, plan.said)) plan.updatedRows += 1
      else plan.added.push(added)
    }
  }
  return { ...plan, updated: [...updated.values()] }
}

/** Returns the name, or an identifier without one; empty if there is neither. */
export function nameOf(fields: Partial<NewContact>): string {
  const [first] = keysOf(fields)
  return fields.name ?? (first === undefined ? '' : String(fields[first[0]]))
}

/** Returns the people who were merged into the contact. */
function formerOf({ metadata }: Contact): string[] {
  return formerKeysOf(metadata).map(([field, key]) => `${field} ${keysLike(field, key)[0]}`)
}

/** Returns the fields of the row, with its unread cells in the notes. */
export function withUnread(
  fields: Partial<NewContact>,
  unread: string | undefined,
  before?: string | null,
): Partial<NewContact> {
  const notes = fields.notes ?? before ?? ''
  if (unread === undefined || notes.includes(unread)) return fields
  return { ...fields, notes: [notes, unread].filter(text => text !== '').join('\n') }
}

/** Returns the contacts that the rows identify, by field and key. */
async function findKnown(database: Database, rows: readonly Row[]): Promise<Map<string, Contact>> {
  const keys = rows.flatMap(({ fields }) => keysOf(fields))
  const contacts: Contact[] = []
  for (const field of identifyingFields) {
    const wanted = keys.flatMap(([named, key]) => (named === field ? [key] : []))
    if (wanted.length === 0) continue
    contacts.push(...(await findByKeys(database, field, wanted)))
  }
  // A contact's own address takes precedence over addresses of merged contacts.
  const known = contacts.flatMap(contact => formerOf(contact).map(key => [key, contact] as const))
  const own = contacts.flatMap(contact => peopleNamedBy(contact).map(key => [key, contact] as const))
  return new Map([...known, ...own])
}

/** Counts the contact, and returns true if it exists. */
function isThere(contact: Contact, said: Said, now: Counts): boolean {
  const content = saidBy(contact)
  count(now, content)
  return said.isThere(content, now)
}

function count(counts: Counts, content: string, times = 1): void {
  counts.set(content, (counts.get(content) ?? 0) + times)
}

/** Returns a hash of everything but id and times. */
export function saidBy(contact: Contact): string {
  const { tags, metadata } = contact
  const content = JSON.stringify([plainFields.map(field => contact[field]), tags, metadata])
  return createHash('sha256').update(content).digest('base64')
}

/**
 * Replaces the known fields by those of the row, except addresses of merged contacts; adds tags and metadata.
 */
function withRow(contact: Contact, row: Partial<NewContact>, unread: string | undefined): Contact {
  const { tags, metadata, ...fields } = withUnread(row, unread, contact.notes)
  const former = formerOf(contact)
  for (const field of identifyingFields)
    if (
      contact[field] !== null &&
      peopleNamedBy({ [field]: fields[field] }).some(one => former.includes(one))
    )
      delete fields[field]
  return {
    ...contact,
    ...fields,
    tags: distinct([...contact.tags, ...(tags ?? [])]),
    metadata: { ...contact.metadata, ...metadata },
  }
}
