import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { invalid } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Outbox, Transact } from '#platform/jobs/jobs.ts'
import { problemOf } from '#platform/schema-check.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { AgentTables } from '#storage/tables.ts'
import type { Column } from './columns.ts'
import { columnsOf, contactIn, isKnown } from './columns.ts'
import type { ContactEvents } from './contacts.events.ts'
import { findByKeys, insertContacts, updateContact } from './contacts.repository.ts'
import type { Contact, ImportReport, NewContact } from './contacts.schema.ts'
import { listedErrors, newContactSchema } from './contacts.schema.ts'
import type { ContactsService } from './contacts.service.ts'
import { distinct, newContact } from './contacts.service.ts'
import type { IdentifyingField } from './identity.ts'
import { identifyingFields, keysOf } from './identity.ts'
import { readCsv } from './read-csv.ts'

/** Rows that are stored in one transaction. */
const portionRows = 200

interface Dependencies {
  transact: Transact<ContactEvents>
  tidy: ContactsService['tidy']
  clock: Clock
  ids: Ids
}

interface ImportOptions {
  /** Names of the columns, of a file without a header. */
  columns: string | undefined
  isDryRun: boolean
}

interface Row {
  line: number
  fields: Partial<NewContact>
}

type RowError = ImportReport['errors'][number]

/** What storing a portion comes to. */
interface Plan {
  added: Contact[]
  updated: Contact[]
  /** Rows that update; several may name one contact. */
  updatedRows: number
  errors: RowError[]
}

/** Takes the contacts of a CSV file in; each row is counted as imported, updated or skipped. */
export function createContactImport({ transact, tidy, clock, ids }: Dependencies) {
  async function plan(database: Kysely<AgentTables>, rows: readonly Row[]): Promise<Plan> {
    const known = await findKnown(database, rows)
    const updated = new Map<string, Contact>()
    const result = { added: [] as Contact[], updatedRows: 0, errors: [] as RowError[] }
    for (const { line, fields } of rows) {
      const keys = keysOf(fields).map(([field, key]) => `${field} ${key}`)
      const matches = new Map(keys.flatMap(key => known.get(key) ?? []).map(one => [one.id, one]))
      const [contact] = matches.values()
      if (matches.size > 1) {
        const issue = 'the identifiers of this row belong to different contacts; merge these first'
        result.errors.push({ line, field: '', issue })
      } else if (contact === undefined) {
        result.added.push(newContact(ids.record(), { ...fields, name: nameOf(fields) }, timestamp(clock)))
      } else {
        const changed = { ...withRow(contact, fields), updated_at: timestamp(clock) }
        // A later row may name the same contact by another identifier.
        for (const [field, key] of keysOf({ ...contact, ...fields })) known.set(`${field} ${key}`, changed)
        for (const [field, key] of keysOf(contact)) known.set(`${field} ${key}`, changed)
        updated.set(contact.id, changed)
        result.updatedRows += 1
      }
    }
    return { ...result, updated: [...updated.values()] }
  }

  async function store(agent: AgentHandle, rows: readonly Row[], isDryRun: boolean): Promise<Plan> {
    if (isDryRun) return await plan(agent.db, rows)
    return await transact(agent, async (transaction, outbox) => {
      const planned = await plan(transaction, rows)
      await insertContacts(transaction, planned.added)
      for (const contact of planned.updated) await updateContact(transaction, contact)
      await emit(outbox, agent.agentId, planned)
      return planned
    })
  }

  /** @throws VALIDATION_ERROR, with nothing stored, for a file whose columns are not known. */
  return async function importContacts(
    agent: AgentHandle,
    content: Buffer,
    { columns, isDryRun }: ImportOptions,
  ): Promise<ImportReport> {
    const report: ImportReport = { imported: 0, updated: 0, skipped: 0, errors: [], errors_total: 0 }
    const check = createRowCheck()
    const skip = (errors: readonly RowError[]) => {
      report.skipped += errors.length
      report.errors_total += errors.length
      report.errors.push(...errors.slice(0, listedErrors - report.errors.length))
    }
    for await (const portion of portionsOf(readContacts(content, columns))) {
      agent.signal.throwIfAborted()
      const rows: Row[] = []
      for (const { line, fields } of portion) {
        const normal = await tidy(agent.agentId, fields)
        const problem = check(normal)
        if (problem === undefined) rows.push({ line, fields: normal })
        else skip([{ line, ...problem }])
      }
      const { added, updatedRows, errors } = await store(agent, rows, isDryRun)
      report.imported += added.length
      report.updated += updatedRows
      skip(errors)
      await yieldToOthers()
    }
    return report
  }
}

export type ImportContacts = ReturnType<typeof createContactImport>

async function emit(outbox: Outbox<ContactEvents>, agentId: string, { added, updated }: Plan): Promise<void> {
  for (const { id } of added) await outbox.emit('contact.created', { agentId, contactId: id })
  for (const { id } of updated) await outbox.emit('contact.updated', { agentId, contactId: id })
}

/** The contacts that the rows name, by field and key. */
async function findKnown(database: Kysely<AgentTables>, rows: readonly Row[]): Promise<Map<string, Contact>> {
  const keys = new Map<IdentifyingField, string[]>(identifyingFields.map(field => [field, []]))
  for (const { fields } of rows) for (const [field, key] of keysOf(fields)) keys.get(field)?.push(key)
  const known = new Map<string, Contact>()
  for (const [field, wanted] of keys) {
    if (wanted.length === 0) continue
    for (const contact of await findByKeys(database, field, wanted))
      for (const [named, key] of keysOf(contact)) known.set(`${named} ${key}`, contact)
  }
  return known
}

/** An identifier serves as the name of somebody who has none; empty if there is neither. */
function nameOf(fields: Partial<NewContact>): string {
  const [first] = keysOf(fields)
  return fields.name ?? (first === undefined ? '' : String(fields[first[0]]))
}

/** What the row says replaces what is known; tags and metadata are added. */
function withRow(contact: Contact, { tags = [], metadata, ...fields }: Partial<NewContact>): Contact {
  return {
    ...contact,
    ...fields,
    tags: distinct([...contact.tags, ...(tags ?? [])]),
    metadata: { ...contact.metadata, ...metadata },
  }
}

interface ImportedRow {
  line: number
  fields: Partial<NewContact>
}

async function* readContacts(content: Buffer, names: string | undefined): AsyncGenerator<ImportedRow> {
  let columns: Column[] | undefined = names === undefined ? undefined : columnsOf(names.split(','))
  if (columns !== undefined) requireKnown(columns, 'columns')
  for await (const { line, cells } of readCsv(content)) {
    if (columns === undefined) {
      columns = columnsOf(cells)
      requireKnown(columns, 'file')
    } else yield { line, fields: contactIn(columns, cells) }
  }
}

function requireKnown(columns: readonly Column[], field: string): void {
  if (isKnown(columns)) return
  const shown = columns
    .map(({ header }) => header)
    .join(', ')
    .slice(0, 300)
  throw invalid(
    field,
    `no column has a known name, such as name, email or phone: ${shown}. Send a field "columns" that names those of a file without a header.`,
  )
}

async function* portionsOf(rows: AsyncIterable<ImportedRow>): AsyncGenerator<ImportedRow[]> {
  let portion: ImportedRow[] = []
  for await (const row of rows) {
    portion.push(row)
    if (portion.length < portionRows) continue
    yield portion
    portion = []
  }
  if (portion.length > 0) yield portion
}

/** What is wrong with a row, those before it considered. */
function createRowCheck() {
  const seen = new Set<string>()
  return (fields: Partial<NewContact>): { field: string; issue: string } | undefined => {
    const keys = keysOf(fields)
    const name = nameOf(fields)
    if (name === '') return { field: 'name', issue: 'is missing, and so is every identifier' }
    const problem = problemOf(newContactSchema, { ...fields, name })
    if (problem !== undefined) return { field: problem.field, issue: problem.issue }
    const repeated = keys.find(([field, key]) => seen.has(`${field} ${key}`))
    if (repeated !== undefined) return { field: repeated[0], issue: 'stands in an earlier row of the file' }
    for (const [field, key] of keys) seen.add(`${field} ${key}`)
    return undefined
  }
}
