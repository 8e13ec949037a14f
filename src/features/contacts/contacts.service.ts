import type { Transaction } from 'kysely'
import { timestamp } from '#platform/clock.ts'
import { AppError, invalid, notFound, required } from '#platform/errors.ts'
import type { ChangeContext, Outbox } from '#platform/jobs/jobs.ts'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { keysOf } from '#storage/tables/contact-identity.ts'
import type { AgentTables, AgentDatabase as Database } from '#storage/tables.ts'
import type { ContactEvents } from './contacts.events.ts'
import {
  deleteContact,
  findByExtension,
  findByKeys,
  findBySocialHandle,
  findContact,
  insertContacts,
  listContacts,
  moveThreads,
  updateContact,
} from './contacts.repository.ts'
import {
  type Contact,
  type ContactChanges,
  type ContactListQuery,
  each,
  type NewContact,
  fields as optionalTexts,
  type ResolvableField,
  type ResolveQuery,
} from './contacts.schema.ts'
import { mergeContacts } from './merge-contacts.ts'
import { tidied, type Unread } from './tidy-contact.ts'

type Changes = Outbox<ContactEvents>

interface Dependencies extends ChangeContext<ContactEvents> {
  /** Returns the country of the contacts' national numbers, ISO 3166 alpha-2. */
  countryOf(agentId: string): Promise<string | undefined>
}

/** The people that an agent knows: each once, in all spellings of their identifiers. */
export function createContactsService({ transact, countryOf, clock, ids }: Dependencies) {
  async function tidy<Fields extends ContactChanges>(agentId: string, givenFields: Fields): Promise<Fields> {
    return withNumbers(await tidied(givenFields, await countryOf(agentId)))
  }

  async function change(
    agent: AgentHandle,
    id: string,
    changed: (contact: Contact, transaction: Transaction<AgentTables>) => Contact | Promise<Contact>,
  ): Promise<Contact> {
    return await transact(agent, async (transaction, outbox) => {
      const before = await find(transaction, id)
      const contact = await changed(before, transaction)
      await requireUnique(transaction, contact, before)
      await updateContact(transaction, { ...contact, updated_at: timestamp(clock) })
      await outbox.emit('contact.updated', { agent_id: agent.agentId, contact_id: id })
      return await find(transaction, id)
    })
  }

  return {
    find,

    list: (database: Database, query: ContactListQuery) => listContacts(database, query),

    resolve,

    /** Resolves identifiers as people write them. */
    async resolveAny({ agentId, db }: AgentHandle, identifiers: ResolveQuery) {
      return (await resolve(db, await tidy(agentId, identifiers))) ?? (await resolve(db, identifiers))
    },

    /** Adds a contact in the caller's transaction; `fields` are tidy. Throws CONFLICT for a known one. */
    async add(
      transaction: Transaction<AgentTables>,
      outbox: Changes,
      agentId: string,
      fields: NewContact,
    ): Promise<Contact> {
      const contact = newContact(ids.record(), fields, timestamp(clock))
      await requireUnique(transaction, contact)
      await insertContacts(transaction, [contact])
      await outbox.emit('contact.created', { agent_id: agentId, contact_id: contact.id })
      return contact
    },

    async create(agent: AgentHandle, givenContact: NewContact): Promise<Contact> {
      const fields = await tidy(agent.agentId, givenContact)
      return await transact(agent, (transaction, outbox) =>
        this.add(transaction, outbox, agent.agentId, fields),
      )
    },

    /** Changes named fields; null removes one. */
    async update(agent: AgentHandle, id: string, givenChanges: ContactChanges): Promise<Contact> {
      const changes = changesOf(await find(agent.db, id), givenChanges)
      const { tags, metadata, ...fields } = await tidy(agent.agentId, changes)
      const lists = {
        ...(tags === undefined ? {} : { tags: distinct(tags ?? []) }),
        ...(metadata === undefined ? {} : { metadata: metadata ?? {} }),
      }
      return await change(agent, id, contact => ({ ...contact, ...fields, ...lists }))
    },

    /** Merges two contacts; the removed one's different values are kept in `metadata.merged`. */
    async merge(agent: AgentHandle, id: string, from: string): Promise<Contact> {
      if (id === from) throw invalid('from', 'names the contact itself; give the id of the other one')
      return await change(agent, id, async (contact, transaction) => {
        const other = await find(transaction, from)
        await moveThreads(transaction, from, id)
        await deleteContact(transaction, from)
        return mergeContacts(contact, other)
      })
    },

    async remove(agent: AgentHandle, id: string): Promise<void> {
      if (!(await inTransaction(agent.db, transaction => deleteContact(transaction, id))))
        throw notFound('Contact')
    },
  }
}

export type ContactsService = ReturnType<typeof createContactsService>

/** Omits unchanged fields, because people send back old values, even numbers that are invalid today. */
function changesOf(stored: Contact, givenChanges: ContactChanges): ContactChanges {
  const isNew = ([field, value]: [string, unknown]) => value !== stored[field as keyof Contact]
  return Object.fromEntries(Object.entries(givenChanges).filter(isNew))
}

/** @throws VALIDATION_ERROR for an invalid number */
function withNumbers<Fields>({ fields, unread: [unread] }: { fields: Fields; unread: Unread[] }): Fields {
  if (unread === undefined) return fields
  const text = JSON.stringify(unread.text.slice(0, 60))
  const example = "write one with its country's code, such as +44 20 7946 0000, and keep other texts in notes"
  throw invalid(unread.field, `${text} is no phone number; ${example}`)
}

async function find(database: Database, id: string): Promise<Contact> {
  return required(await findContact(database, id), 'Contact')
}

/** Finds a person by identifiers; the first one with a match decides. */
async function resolve(
  database: Database,
  { social_handle, ...identity }: ResolveQuery,
): Promise<{ contact: Contact; matched_by: ResolvableField } | undefined> {
  for (const [field, key] of keysOf(identity)) {
    const [contact] = await findByKeys(database, field, [key])
    if (contact !== undefined) return { contact, matched_by: field }
    // Only extensions distinguish several people who share a number.
    const [one, another] = await findByExtension(database, field, key)
    if (one !== undefined && another === undefined) return { contact: one, matched_by: field }
  }
  const contact = social_handle && (await findBySocialHandle(database, social_handle))
  return contact ? { contact, matched_by: 'social_handle' } : undefined
}

/** @param before its identifiers are not checked: two old contacts can be one person by today's rules. */
async function requireUnique(transaction: Database, contact: Contact, before?: Contact): Promise<void> {
  const heldKeys = new Set(before && keysOf(before).map(String))
  for (const [field, key] of keysOf(contact).filter(found => !heldKeys.has(String(found)))) {
    const other = (await findByKeys(transaction, field, [key])).find(({ id }) => id !== contact.id)
    if (other !== undefined) throw duplicate(field, other)
  }
}

const nothing = each(optionalTexts, () => null)

/** @param now ISO 8601. */
export function newContact(id: string, { tags, metadata, ...fields }: NewContact, now: string): Contact {
  return {
    ...nothing,
    ...fields,
    id,
    tags: distinct(tags ?? []),
    metadata: metadata ?? {},
    created_at: now,
    updated_at: now,
  }
}

export function distinct(tags: readonly string[]): string[] {
  return [...new Set(tags.map(tag => tag.trim()))]
}

function duplicate(field: string, other: Contact): AppError {
  const issue = `already belongs to the contact ${JSON.stringify(other.name)}`
  return new AppError('CONFLICT', `${field}: ${issue}. Update that contact, or merge the two.`, {
    details: { field, issue, contact_id: other.id },
  })
}
