import { defineAgentTables, writable } from './table-set.ts'

/** The people that an agent knows. */
export interface ContactTables {
  contacts: ContactsTable
}

interface ContactsTable {
  id: string
  name: string
  email: string | null
  phone: string | null
  messenger_handle: string | null
  messenger_number: string | null
  social_handle: string | null
  external_id: string | null
  notes: string | null
  /** JSON array of texts. */
  tags: string
  /** JSON object. */
  metadata: string
  created_at: string
  updated_at: string
}

/**
 * SQL expressions of what tells people apart, alike on every engine: a unique index on each keeps them right whoever
 * writes the column. `identity.ts` of the feature says the same in JavaScript.
 */
export const contactKeys = {
  email: 'lower(email)',
  phone: digitsOf('phone'),
  messenger_handle: handleOf('messenger_handle'),
  messenger_number: digitsOf('messenger_number'),
  external_id: 'external_id',
} as const

/** Without what people write between digits, and without `+` or `00` before the country's code. */
function digitsOf(column: string): string {
  const separators = [' ', '-', '(', ')', '.', '/', '+']
  const digits = separators.reduce((text, separator) => `replace(${text}, '${separator}', '')`, column)
  return `nullif(case when ${digits} like '00%' then substr(${digits}, 3) else ${digits} end, '')`
}

function handleOf(column: string): string {
  return `nullif(lower(case when ${column} like '@%' then substr(${column}, 2) else ${column} end), '')`
}

export const contactTables = defineAgentTables<ContactTables>({
  rules: {
    contacts: { sql: writable, copy: { key: ['id'] } },
  },
  async create(db, parts) {
    await db.schema
      .createTable('contacts')
      .addColumn('id', parts.textType, column => column.primaryKey().defaultTo(parts.newId))
      .addColumn('name', parts.textType, column => column.notNull())
      .addColumn('email', parts.textType)
      .addColumn('phone', parts.textType)
      .addColumn('messenger_handle', parts.textType)
      .addColumn('messenger_number', parts.textType)
      .addColumn('social_handle', parts.textType)
      .addColumn('external_id', parts.textType)
      .addColumn('notes', parts.textType)
      .addColumn('tags', parts.textType, column => column.notNull().defaultTo('[]'))
      .addColumn('metadata', parts.textType, column => column.notNull().defaultTo('{}'))
      .addColumn('created_at', parts.textType, column => column.notNull().defaultTo(parts.now))
      .addColumn('updated_at', parts.textType, column => column.notNull().defaultTo(parts.now))
      .execute()
    for (const [column, key] of Object.entries(contactKeys))
      await db.schema
        .createIndex(`contacts_${column}`)
        .unique()
        .on('contacts')
        .expression(parts.expression(`(${key})`))
        .execute()
    await db.schema.createIndex('contacts_name').on('contacts').columns(['name', 'id']).execute()
    await db.schema.createIndex('contacts_created').on('contacts').columns(['created_at', 'id']).execute()
  },
})
