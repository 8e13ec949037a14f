import type { FastifySchemaValidationError } from 'fastify'
import type { TSchema } from 'typebox'

/** Shorter names can differ in one letter without meaning each other: `mode` and `model`. */
const minMistypedLength = 5

/**
 * Finds a field of a body that is unknown, but close to a known one: in another notation
 * (`conversation_id`) or with a typing error. Ignoring the field would contradict the caller's intention.
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

/** True if one letter is missing, too many or wrong, or two neighbours are swapped. */
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
