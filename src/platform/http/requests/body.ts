import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { App } from '../app.ts'

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

/** Has the routes of a scope get JSON as bytes, for a thread to read them: at most those of `bodyLimit`. */
export function takeJsonAsBytes(scope: App): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, parsed) =>
    parsed(null, body),
  )
}
