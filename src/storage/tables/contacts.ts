import { text, textOrNull, withDefault } from '#platform/columns.ts'
import { declareAgentTables, writable } from './table-set.ts'

/**
 * SQL expressions that distinguish people, the same on every engine: the service and the agent's SQL both write these
 * columns, so a unique index on each expression holds. `contact-identity.ts` does the same in JavaScript.
 */
export const contactKeys = {
  email: 'lower(email)',
  phone: digitsOf('phone'),
  messenger_handle: handleOf('messenger_handle'),
  messenger_number: digitsOf('messenger_number'),
  external_id: 'external_id',
} as const

/** Removes the characters that people write between digits, and `+` or `00` before the country's code. */
function digitsOf(column: string): string {
  const separators = [' ', '-', '(', ')', '.', '/', '+']
  const digits = separators.reduce((text, separator) => `replace(${text}, '${separator}', '')`, column)
  return `nullif(case when ${digits} like '00%' then substr(${digits}, 3) else ${digits} end, '')`
}

function handleOf(column: string): string {
  return `nullif(lower(case when ${column} like '@%' then substr(${column}, 2) else ${column} end), '')`
}

const uniqueKeys = Object.fromEntries(
  Object.entries(contactKeys).map(([column, on]) => [column, { on, isUnique: true } as const]),
)

/** The people that an agent knows. */
export const contactTables = declareAgentTables({
  contacts: {
    sql: writable,
    columns: {
      id: withDefault(text, { engine: 'newId' }),
      name: text,
      email: textOrNull,
      phone: textOrNull,
      messenger_handle: textOrNull,
      messenger_number: textOrNull,
      social_handle: textOrNull,
      external_id: textOrNull,
      notes: textOrNull,
      /** JSON array of texts. */
      tags: withDefault(text, '[]'),
      /** JSON object. */
      metadata: withDefault(text, '{}'),
      created_at: withDefault(text, { engine: 'now' }),
      updated_at: withDefault(text, { engine: 'now' }),
    },
    indexes: {
      ...uniqueKeys,
      name: ['name', 'id'],
      created: ['created_at', 'id'],
    },
  },
})
