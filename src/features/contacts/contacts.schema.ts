import type { Static, TSchema } from 'typebox'
import { Type } from 'typebox'
import { listMetaSchema, listParameters } from '#platform/http/lists/list-query.ts'
import { orNull } from '#platform/own-schemas.ts'
import { identifyingFields } from './identity.ts'

/** The fields that hold one line of text, and their greatest lengths. */
const lengths = {
  name: 300,
  email: 320,
  phone: 60,
  messenger_handle: 200,
  messenger_number: 60,
  social_handle: 200,
  external_id: 200,
} as const

function text(field: keyof typeof lengths, description: string) {
  return Type.String({ maxLength: lengths[field], description })
}

const fields = {
  email: Type.String({ maxLength: lengths.email, pattern: '^\\s*([^\\s@]+@[^\\s@]+)?\\s*$' }),
  phone: text('phone', 'Compared by its digits.'),
  messenger_handle: text('messenger_handle', 'On Telegram; with or without @.'),
  messenger_number: text('messenger_number', 'On WhatsApp; compared by its digits.'),
  social_handle: text('social_handle', 'On a social network.'),
  external_id: text('external_id', 'In a system of your own.'),
  notes: Type.String({ maxLength: 20_000 }),
}
export const plainFields = ['name', ...Object.keys(fields)] as ('name' | keyof typeof fields)[]

const name = Type.String({ maxLength: lengths.name, pattern: '\\S', examples: ['Ada Lovelace'] })
const tags = Type.Array(Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }), { maxItems: 100 })
const metadata = Type.Record(Type.String({ maxLength: 200 }), Type.Unknown(), {
  maxProperties: 200,
  description: 'Keys and values of your own, kept as given.',
})

function nullable<Schema extends TSchema & { type: string }>(schema: Schema) {
  return Type.Optional(orNull(schema))
}

const optionalFields = {
  email: nullable(fields.email),
  phone: nullable(fields.phone),
  messenger_handle: nullable(fields.messenger_handle),
  messenger_number: nullable(fields.messenger_number),
  social_handle: nullable(fields.social_handle),
  external_id: nullable(fields.external_id),
  notes: nullable(fields.notes),
  tags: nullable(tags),
  metadata: nullable(metadata),
}

export const newContactSchema = Type.Object({ name, ...optionalFields })
export type NewContact = Static<typeof newContactSchema>

/** `null` or an empty text removes a field; what is not named stays. */
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
    email: orNull(Type.String()),
    phone: orNull(Type.String()),
    messenger_handle: orNull(Type.String()),
    messenger_number: orNull(Type.String()),
    social_handle: orNull(Type.String()),
    external_id: orNull(Type.String()),
    notes: orNull(Type.String()),
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
  tag: Type.Optional(Type.Array(Type.String(), { description: 'Contacts with any of these tags.' })),
})
export type ContactListQuery = Static<typeof contactListQuery>

export const contactListSchema = Type.Object({ contacts: Type.Array(contactSchema), meta: listMetaSchema })

export const resolvableFields = [...identifyingFields, 'social_handle'] as const
export type ResolvableField = (typeof resolvableFields)[number]

function identifier(description: string) {
  return Type.Optional(Type.String({ minLength: 1, maxLength: lengths.email, description }))
}
export const resolveQuery = Type.Object({
  email: identifier('In any letter case.'),
  phone: identifier('Compared by its digits.'),
  messenger_handle: identifier('On Telegram, with or without @.'),
  messenger_number: identifier('On WhatsApp, compared by its digits.'),
  social_handle: identifier('On a social network.'),
  external_id: identifier('In a system of your own.'),
})
export type ResolveQuery = Static<typeof resolveQuery>

export const resolvedSchema = Type.Object({
  contact: Type.Pick(contactSchema, ['id', 'name', 'email']),
  matched_by: Type.Enum([...resolvableFields]),
})

export const mergeSchema = Type.Object({
  from: Type.String({ minLength: 1, description: 'Id of the contact that goes.', examples: ['3f0c…'] }),
})

/** Errors that an import lists; it counts them all. */
export const listedErrors = 1000

export const importForm = Type.Object({
  file: Type.String({ format: 'binary' }),
  columns: Type.Optional(
    Type.String({ description: 'Names of the columns, separated by commas, of a file without a header.' }),
  ),
  dry_run: Type.Optional(Type.Enum(['true', 'false'], { description: 'Whether to report only.' })),
})

export const importReportSchema = Type.Object({
  imported: Type.Integer(),
  updated: Type.Integer(),
  skipped: Type.Integer(),
  errors: Type.Array(Type.Object({ line: Type.Integer(), field: Type.String(), issue: Type.String() }), {
    description: `Why rows were skipped; the first ${listedErrors}.`,
  }),
  errors_total: Type.Integer(),
})
export type ImportReport = Static<typeof importReportSchema>

export const exportQuery = Type.Object({
  format: Type.Optional(Type.Enum(['csv', 'json'], { description: 'CSV unless given.' })),
})
