import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'

/**
 * The body, where its schema depends on what it says, so that no route could declare it.
 * @throws what a body that does not fit its route's schema is answered with.
 */
export function requireBody<Schema extends TSchema>(request: FastifyRequest, schema: Schema): Static<Schema> {
  const { body } = request
  const validate = request.compileValidationSchema(schema, 'body')
  if (validate(body)) return body as Static<Schema>
  const { errors: validation } = validate
  throw Object.assign(new Error('The body does not fit its schema.'), {
    validation,
    validationContext: 'body',
  })
}
