import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'

/**
 * Checks a body whose schema depends on its content, so that the route could not declare it.
 * @throws what a body that does not match its route's schema is answered with.
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
