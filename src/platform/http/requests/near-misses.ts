import type { FastifySchemaValidationError } from 'fastify'
import type { TSchema } from 'typebox'

/** Shorter names differ in one letter without meaning each other: `mode` and `model`. */
const minMistypedLength = 5

/**
 * The field of a body that its schema does not know, but that is nearly one that it knows: in another notation
 * (`conversation_id`) or with a typing error. To ignore it would do something else than the caller intended.
 */
export function nearMissOf(schema: TSchema, body: unknown): FastifySchemaValidationError | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  const { properties = {} } = schema as { properties?: Record<string, TSchema> }
  const known = Object.keys(properties).map(name => ({ name, plain: plainOf(name) }))
  for (const field of Object.keys(body)) {
    if (Object.hasOwn(properties, field)) continue
    const plain = plainOf(field)
    const meant = known.find(one => one.plain === plain || isMistyped(one.plain, plain))
    if (meant !== undefined) return violation(field, meant.name)
  }
  return undefined
}

function violation(field: string, meant: string): FastifySchemaValidationError {
  const instancePath = `/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const message = `is not a known field: write ${meant}`
  return { keyword: 'nearMiss', instancePath, schemaPath: '#/properties', params: {}, message }
}

function plainOf(name: string): string {
  return name.replace(/[_\s-]/g, '').toLowerCase()
}

/** Whether one letter is missing, too many or wrong, or two that follow each other are swapped. */
function isMistyped(known: string, given: string): boolean {
  if (Math.min(known.length, given.length) < minMistypedLength) return false
  const shorter = Math.min(known.length, given.length)
  let start = 0
  while (start < shorter && known[start] === given[start]) start += 1
  let end = 0
  while (end < shorter - start && known.at(-1 - end) === given.at(-1 - end)) end += 1
  const wanted = known.slice(start, known.length - end)
  const found = given.slice(start, given.length - end)
  const isSwapped = wanted.length === 2 && found === `${wanted[1]}${wanted[0]}`
  return isSwapped || (wanted.length <= 1 && found.length <= 1)
}
