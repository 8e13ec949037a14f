import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { AppError } from '../../errors.ts'
import type { App } from '../app.ts'
import { jsonBodyLimit } from './body-limits.ts'
import { jsonReader } from './json-body.ts'

/**
 * Checks a body whose schema depends on its content, so that the route could not declare it.
 * @throws the error for a body that does not match its route's schema.
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

/** Passes JSON as bytes to the routes of a scope, for a thread to parse: at most `bodyLimit`. */
export function takeJsonAsBytes(scope: App): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, parsed) =>
    parsed(null, body),
  )
}

/** The parts in which a body has arrived: to join them would block the event loop where it is large. */
export type BodyParts = readonly Uint8Array<ArrayBuffer>[]

/** Has the routes of a scope get JSON, of which `shorten` makes a shorter text where it is larger than `jsonBodyLimit`. */
export function takeLargeJson(
  scope: App,
  shorten: (request: FastifyRequest, parts: BodyParts) => Promise<string>,
): void {
  const readJson = jsonReader(scope)
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', async (request: FastifyRequest, payload: Readable) => {
    const { bodyLimit = jsonBodyLimit } = request.routeOptions
    const { parts, length } = await readParts(payload, Number(request.headers['content-length']), bodyLimit)
    const isSmall = length <= jsonBodyLimit
    return readJson(request, isSmall ? Buffer.concat(parts).toString() : await shorten(request, parts))
  })
}

function readParts(payload: Readable, announced: number, limit: number) {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  return new Promise<{ parts: BodyParts; length: number }>((resolve, reject) => {
    const refuse = () => reject(new AppError('PAYLOAD_TOO_LARGE', 'The request body is too large.'))
    if (announced > limit) return refuse()
    payload
      .on('data', (part: Buffer) => {
        length += part.length
        if (length > limit) refuse()
        else parts.push(new Uint8Array(part))
      })
      .on('end', () => resolve({ parts, length }))
      .on('error', reject)
  })
}
