import { setImmediate as yieldToOthers } from 'node:timers/promises'
import type { Clock } from '#platform/clock.ts'
import { timestamp } from '#platform/clock.ts'
import { invalid } from '#platform/errors.ts'
import type { Ids } from '#platform/ids.ts'
import type { Transact } from '#platform/jobs/jobs.ts'
import { problemOf } from '#platform/schema-check.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Column } from './columns.ts'
import { columnsOf, contactIn, isKnown } from './columns.ts'
import type { ContactEvents } from './contacts.events.ts'
import { insertContacts, updateContact } from './contacts.repository.ts'
import type { Contact, ImportReport, NewContact } from './contacts.schema.ts'
import { listedErrors, newContactSchema } from './contacts.schema.ts'
import { keysOf } from './identity.ts'
import type { Plan, Row, Said } from './plan-import.ts'
import { count, nameOf, planImport } from './plan-import.ts'
import type { CsvFile, CsvRow } from './read-csv.ts'
import { tidied } from './tidy-contact.ts'

/** Rows that are stored in one transaction. */
const portionRows = 200

interface Dependencies {
  transact: Transact<ContactEvents>
  /** The country whose national numbers the agent's contacts have, ISO 3166 alpha-2. */
  countryOf(agentId: string): Promise<string | undefined>
  clock: Clock
  ids: Ids
}

interface ImportOptions {
  /** Names of the columns, of a file without a header. */
  columns: string | undefined
  isDryRun: boolean
}

/** Takes the contacts of a CSV file in; each row is counted as imported, updated or skipped. */
export function createContactImport({ transact, countryOf, clock, ids }: Dependencies) {
  async function store(
    agent: AgentHandle,
    rows: readonly Row[],
    said: Said,
    isDryRun: boolean,
  ): Promise<Plan> {
    const options = { said, newId: ids.record, now: timestamp(clock) }
    if (isDryRun) return await planImport(agent.db, rows, options)
    return await transact(agent, async (transaction, outbox) => {
      const plan = await planImport(transaction, rows, options)
      await insertContacts(transaction, plan.added)
      for (const contact of plan.updated) await updateContact(transaction, contact)
      const eventOf = ({ id }: Contact) => ({ agentId: agent.agentId, contactId: id })
      await outbox.emit('contact.created', ...plan.added.map(eventOf))
      await outbox.emit('contact.updated', ...plan.updated.map(eventOf))
      return plan
    })
  }

  /** @throws VALIDATION_ERROR, with nothing stored, for a file whose columns are not known. */
  return async function importContacts(
    agent: AgentHandle,
    file: CsvFile,
    { columns, isDryRun }: ImportOptions,
  ): Promise<ImportReport> {
    const report: ImportReport = { imported: 0, updated: 0, skipped: 0, errors: [], errors_total: 0 }
    const country = await countryOf(agent.agentId)
    const check = createRowCheck()
    const said: Said = new Map()
    const skip = (errors: ImportReport['errors']) => {
      report.skipped += errors.length
      report.errors_total += errors.length
      report.errors.push(...errors.slice(0, listedErrors - report.errors.length))
    }
    for await (const portion of portionsOf(contactsIn(file.rows(), columns))) {
      agent.signal.throwIfAborted()
      const rows: Row[] = []
      for (const { line, fields } of portion) {
        const normal = await tidied(fields, country)
        const problem = check(normal)
        if (problem === undefined) rows.push({ line, fields: normal })
        else skip([{ line, ...problem }])
      }
      const plan = await store(agent, rows, said, isDryRun)
      for (const [content, times] of plan.said) count(said, content, times)
      report.imported += plan.added.length
      report.updated += plan.updatedRows
      skip(plan.errors)
      await yieldToOthers()
    }
    return report
  }
}

export type ImportContacts = ReturnType<typeof createContactImport>

/** The first row that is not blank names the columns, unless `names` does. */
async function* contactsIn(rows: AsyncIterable<CsvRow>, names: string | undefined): AsyncGenerator<Row> {
  let columns = names === undefined ? undefined : knownColumns(names.split(','), 'columns')
  for await (const { line, cells } of rows) {
    if (columns !== undefined) yield { line, fields: contactIn(columns, cells) }
    else if (cells.some(cell => cell.trim() !== '')) columns = knownColumns(cells, 'file')
  }
}

function knownColumns(headers: readonly string[], field: string): Column[] {
  const columns = columnsOf(headers)
  if (isKnown(columns)) return columns
  const shown = columns
    .map(({ header }) => header)
    .join(', ')
    .slice(0, 300)
  throw invalid(
    field,
    `no column has a known name, such as name, email or phone: ${shown}. Send a field "columns" that names those of a file without a header.`,
  )
}

async function* portionsOf(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let portion: Row[] = []
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
