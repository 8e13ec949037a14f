import { type Static, Type } from 'typebox'
import { listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'
import { identifyingFields } from '#storage/tables/contact-identity.ts'

const name = Type.String({ maxLength: 300, pattern: '\\S', examples: ['Ada Lovelace'] })

/** Returns the schema of a line of text. */
function line(maxLength: number, description: string, pattern?: string) {
  const schema = Type.String({ maxLength, description, ...(pattern && { pattern }) })
  return schema as typeof schema & { description: string }
}

/** The fields that identify a contact. */
const identifiers = {
  email: line(
    320,
    'An address such as ada@example.com; A to Z in any case.',
    '^\\s*([^\\s@]+@[^\\s@]+)?\\s*$',
  ),
  phone: line(60, 'A phone number in any spelling, with the code of its country.'),
  messenger_handle: line(200, 'Telegram handle, with or without @.'),
  messenger_number: line(60, 'WhatsApp number in any spelling.'),
  social_handle: line(200, 'Handle on a social network.'),
  external_id: line(200, 'Id of the contact in another system.'),
}
export const fields = { ...identifiers, notes: Type.String({ maxLength: 20_000 }) }
export const plainFields = ['name', ...Object.keys(fields)] as ('name' | keyof typeof fields)[]

const tags = Type.Array(Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }), { maxItems: 100 })
const metadata = Type.Record(Type.String({ maxLength: 200 }), Type.Unknown(), {
  maxProperties: 200,
  description: 'Custom keys and values, stored as given.',
})

/** Makes a schema for each of the fields. */
export function each<Field extends string, Given, Made>(
  givenFields: Record<Field, Given>,
  make: (schema: Given) => Made,
) {
  const made = Object.entries<Given>(givenFields).map(([field, schema]) => [field, make(schema)])
  return Object.fromEntries(made) as Record<Field, Made>
}

const optionalFields = {
  ...each(fields, schema => Type.Optional(orNull(schema))),
  tags: Type.Optional(orNull(tags)),
  metadata: Type.Optional(orNull(metadata)),
}

export const newContactSchema = Type.Object({ name, ...optionalFields })
export type NewContact = Static<typeof newContactSchema>

/** `null` or an empty text removes a field; unnamed fields stay. */
export const contactChangesSchema = Type.Object(
  { name: Type.Optional(name), ...optionalFields },
  { minProperties: 1, examples: [{ phone: '+44 20 7946 0000' }] },
)
export type ContactChanges = Static<typeof contactChangesSchema>

const time = Type.String({ format: 'date-time' })

export const contactSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    ...each(fields, () => orNull(Type.String())),
    tags: Type.Array(Type.String()),
    metadata: Type.Record(Type.String(), Type.Unknown()),
    created_at: time,
    updated_at: time,
  },
  { title: 'Contact' },
)
export type Contact = Static<typeof contactSchema>

export const createdContactSchema = Type.Pick(contactSchema, ['id', 'name', 'email', 'created_at'])

export const contactListQuery = Type.Object({
  ...listParameters,
  tag: Type.Optional(
    Type.Array(Type.String(), { description: 'Return only contacts with any of these tags.' }),
  ),
})
export type ContactListQuery = Static<typeof contactListQuery>

export const resolvableFields = [...identifyingFields, 'social_handle'] as const
export type ResolvableField = (typeof resolvableFields)[number]

export const resolveQuery = Type.Object(
  each(identifiers, ({ description }) =>
    Type.Optional(Type.String({ minLength: 1, maxLength: 320, description })),
  ),
)
export type ResolveQuery = Static<typeof resolveQuery>

export const resolvedSchema = Type.Object({
  contact: Type.Pick(contactSchema, ['id', 'name', 'email']),
  matched_by: Type.Enum([...resolvableFields]),
})

export const mergeSchema = Type.Object({
  from: Type.String({
    minLength: 1,
    description: 'Id of the contact that is merged and then deleted.',
    examples: ['3f0c…'],
  }),
})

/** Max errors that an import lists; it counts all. */
export const listedErrors = 1000

export const importForm = Type.Object({
  file: Type.String({ format: 'binary' }),
  columns: Type.Optional(
    Type.String({ description: 'Comma-separated column names for a file without a header.' }),
  ),
  dry_run: Type.Optional(
    Type.Enum(['true', 'false'], { description: 'Whether to report the changes without making them.' }),
  ),
})

export const importReportSchema = Type.Object({
  imported: Type.Integer(),
  updated: Type.Integer(),
  skipped: Type.Integer(),
  errors: Type.Array(Type.Object({ line: Type.Integer(), field: Type.String(), issue: Type.String() }), {
    description: `Reasons for skipped rows, at most ${listedErrors}.`,
  }),
  errors_total: Type.Integer(),
})
export type ImportReport = Static<typeof importReportSchema>

export const exportQuery = Type.Object({
  format: Type.Optional(Type.Enum(['csv', 'json'], { description: 'Default: csv.' })),
})
