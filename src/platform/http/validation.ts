import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'

/**
 * Two validators: JSON bodies are taken as they are (a number is no string), while path, query and header values,
 * which arrive as text, are turned into what their schema says, with defaults filled in and a single value of a
 * repeatable parameter made a list.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  const strict = withFormats(new Ajv({ coerceTypes: false, useDefaults: true, strict: false }))
  const coercing = withFormats(new Ajv({ coerceTypes: 'array', useDefaults: true, strict: false }))
  return ({ schema, httpPart }) => (httpPart === 'body' ? strict : coercing).compile(schema)
}

function withFormats(ajv: Ajv): Ajv {
  formats.default(ajv, ['date-time', 'date', 'email', 'uri'])
  return ajv
}
