import type { Kysely } from 'kysely'
import { type RowOf, text } from '#platform/columns.ts'
import { takeTurns } from '#platform/event-loop/turns.ts'
import { normalNumber, withoutInvisible } from '#platform/phone-number.ts'
import { formerKeysOf, type Identity, isNumber, keysOf } from './contact-identity.ts'
import { contactKeys, type contactTables } from './contacts.ts'
import { declareAgentTables, hidden } from './table-set.ts'

const columns = {
  field: text,
  key: text,
  /** A contact that might be gone: an agent's SQL deletes contacts, and must not reach this table. */
  contact_id: text,
}

interface Tables extends Record<string, object> {
  contacts: RowOf<typeof contactTables.columns.contacts>
  contact_addresses: RowOf<typeof columns>
}

/** Max rows that the migration reads at a time. */
const pageRows = 50

/** The keys of contacts that were merged into others, derived from `metadata.merged`. */
export const contactAddressTables = declareAgentTables(
  {
    contact_addresses: {
      sql: hidden,
      columns,
      key: ['field', 'key', 'contact_id'],
      indexes: { contact: ['contact_id'] },
    },
  },
  { create: db => readStored(db.withTables<Tables>()) },
)

/**
 * Rewrites stored identifiers in the form of today, so that searches find their keys. If another contact has
 * the key, the identifier stays unchanged: contacts are not merged silently.
 */
async function readStored(db: Kysely<Tables>): Promise<void> {
  const { sql } = await import('kysely')
  const page = db
    .selectFrom('contacts')
    .select(['id', 'email', 'phone', 'messenger_handle', 'messenger_number'])
    .select(sql<string | null>`case when metadata like '%"merged"%' then metadata end`.as('metadata'))
    .orderBy('id')
    .limit(pageRows)
  const turn = takeTurns()
  for (let rows = await page.execute(); rows.length > 0; ) {
    for (const row of rows) {
      await rewrite(db, row)
      const former = formerKeysOf(parsed(row.metadata))
      if (former.length > 0)
        await db
          .insertInto('contact_addresses')
          .values(former.map(([field, key]) => ({ field, key, contact_id: row.id })))
          .execute()
      if (turn.isOver()) await turn.next()
    }
    rows = await page.where('id', '>', rows.at(-1)?.id ?? '').execute()
  }
}

async function rewrite(db: Kysely<Tables>, { id, ...row }: { id: string } & Identity): Promise<void> {
  for (const [field, before] of keysOf(row)) {
    if (field === 'external_id') continue
    const written = row[field] ?? ''
    const value = isNumber(field) ? await normalNumber(written, undefined) : withoutInvisible(written).trim()
    const [[, key] = ['', '']] = keysOf({ [field]: value })
    if (!value || key === '' || key === before) continue
    const { sql } = await import('kysely')
    const expression = sql<string>`(${sql.raw(contactKeys[field])})`
    const other = await db.selectFrom('contacts').select('id').where(expression, '=', key).executeTakeFirst()
    if (other === undefined)
      await db
        .updateTable('contacts')
        .set({ [field]: value })
        .where('id', '=', id)
        .execute()
  }
}

function parsed(json: string | null): Record<string, unknown> {
  try {
    return Object(JSON.parse(json ?? '{}'))
  } catch {
    return {}
  }
}
