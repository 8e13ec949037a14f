/** Reads the JSON body that creates a source, and checks it by the schema of its type. */
import type { FastifyRequest } from 'fastify'
import { invalid } from '#platform/errors.ts'
import { requireBody } from '#platform/http/requests/body.ts'
import { type NewApi, type NewDatabase, newApiSchema, newDatabaseSchema } from '../new-fetched.schema.ts'

const elsewhere = {
  file: 'is "file", which is sent as a form: multipart/form-data with the fields type, name and file',
  crawl: 'is "crawl", which has a call of its own: POST sources/crawl',
}

/** Reads the body. @throws VALIDATION_ERROR */
export function readNewFetched(request: FastifyRequest): NewDatabase | NewApi {
  const { body } = request
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('body', 'must be a JSON object with a type, "database" or "api"')
  const type = 'type' in body ? body.type : undefined
  if (type === 'database') return requireBody(request, newDatabaseSchema)
  if (type === 'api') return requireBody(request, newApiSchema)
  throw invalid(
    'type',
    type === 'file' || type === 'crawl' ? elsewhere[type] : 'must be "database" or "api" in a JSON body',
  )
}
