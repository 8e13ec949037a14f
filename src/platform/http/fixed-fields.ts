/**
 * Updates accept a resource as it was read: fields that an update does not change must have their current
 * value. Ignoring other values silently would answer 200 to a change that was not made.
 */
import { isDeepStrictEqual } from 'node:util'
import type { FastifyReply, FastifyRequest, preValidationAsyncHookHandler } from 'fastify'
import type { TSchema } from 'typebox'
import { invalid } from '../errors.ts'
import { withNumbersAsText } from '../exact-json.ts'
import { matches, problemOf } from '../schema-check.ts'

type Handle = (request: never, reply: FastifyReply) => unknown
type Fields = Record<string, unknown>

interface DeclaredRoute {
  body?: TSchema | undefined
  answer: TSchema
  handle: Handle
  /** For an update: reads the resource, instead of the route that reads it. */
  current?: Handle | undefined
  fixed?: readonly string[] | undefined
  /** Fields that an update can set for other resources, but the service itself sets for this one. */
  derived?: ((resource: Fields) => readonly string[]) | undefined
}

interface Guard {
  preValidation: preValidationAsyncHookHandler
  /** Reduces the body to changes. @throws AppError VALIDATION_ERROR naming a field that can't be changed. */
  require(request: FastifyRequest, reply: FastifyReply): Promise<void>
}

const fixedIssue = "can't be changed: leave it out, or send the value that it has"

/** Remembers the routes of resources; for an update, returns the guard of fields that it does not set. */
export function createFixedFields() {
  const declared = new Map<string, DeclaredRoute>()
  return (method: string, path: string, route: DeclaredRoute): Guard | undefined => {
    declared.set(`${method} ${path}`, route)
    const { body, current } = route
    // A closed body is refused with all fields that it does not know.
    if (method !== 'PUT' || body === undefined || 'additionalProperties' in body) return undefined
    const creation = `POST ${path.replace(/\/:\w+$/, '')}`
    return guardOf(route, body, () => ({
      made: declared.get(creation),
      read: { ...declared.get(`GET ${path}`), ...(current && { handle: current }) },
    }))
  }
}

function guardOf(
  { fixed: alsoFixed = [], derived = () => [] }: DeclaredRoute,
  body: TSchema,
  routes: () => { made: DeclaredRoute | undefined; read: Partial<DeclaredRoute> },
): Guard {
  const fixedFields = new WeakMap<FastifyRequest, Fields>()
  const changeable = propertiesOf(body)
  const guard: Guard = {
    async preValidation(request, reply) {
      const { made, read } = routes()
      const known = {
        ...propertiesOf(read.answer),
        ...propertiesOf(made?.answer),
        ...propertiesOf(made?.body),
      }
      const input = Object(request.body) as Fields
      const isFixed = (name: string) =>
        name in changeable
          ? 'id' in input && !matches(changeable[name] as TSchema, input[name])
          : Object.hasOwn(known, name)
      const fixed = Object.keys(input).filter(isFixed)
      if (fixed.length > 0)
        fixedFields.set(request, Object.fromEntries(fixed.map(name => [name, input[name]])))
      // Validation knows no fixed field.
      for (const name of fixed) delete input[name]
      // Validation would report the lack of any field instead.
      if (Object.keys(input).length === 0) await guard.require(request, reply)
    },
    async require(request, reply) {
      const fields = fixedFields.get(request)
      const { made, read } = routes()
      if (fields === undefined || read.handle === undefined) return
      const resource = resourceIn(plain(await read.handle(request as never, reply)) as Fields)
      // A resource that is sent back whole might be old: fields that the service itself changes can differ.
      const isWhole = fields.id !== undefined && fields.id === resource.id
      const constant = { id: true, created_at: true, ...propertiesOf(made?.body), ...changeable }
      const isOwn = (field: string) =>
        derived(resource).includes(field) || !(field in constant || alsoFixed.includes(field))
      for (const [field, value] of Object.entries(fields))
        if (!isWhole || !isOwn(field))
          requireSame(field, value, resource, changeable[field] as TSchema | undefined)
      if (isWhole) leaveChanges(Object(request.body), isOwn, resource)
    },
  }
  return guard
}

/** Removes unchanged fields, because sending back a read value sets nothing, such as the start of a delay. */
function leaveChanges(input: Fields, isOwn: (field: string) => boolean, resource: Fields): void {
  for (const [field, value] of Object.entries(input))
    if (isOwn(field) || isSame(value, resource[field])) delete input[field]
}

/** @param schema the field's schema in the update, if it has the field. */
function requireSame(field: string, value: unknown, resource: Fields, schema: TSchema | undefined): void {
  if (isSame(value, resource[field])) return
  throw invalid(field, (schema && problemOf(schema, value)?.issue) ?? fixedIssue)
}

/** @param stored a value in the form of `plain`. */
function isSame(value: unknown, stored: unknown): boolean {
  return isDeepStrictEqual(plain(value), stored ?? null)
}

/** Returns the value in the form of JSON, for comparisons. */
function plain(value: unknown): unknown {
  return JSON.parse(withNumbersAsText(JSON.stringify(value ?? null)))
}

/** Returns the resource, which responses of some areas hold as `data`. */
function resourceIn(answer: Fields): Fields {
  return 'success' in answer && 'data' in answer ? (answer.data as Fields) : answer
}

function propertiesOf(schema: TSchema | undefined): Fields {
  const { properties = {} } = (schema ?? {}) as { properties?: Fields }
  return Object.assign(
    Object.create(null),
    resourceIn(properties) === properties ? properties : propertiesOf(properties.data as TSchema),
  )
}
