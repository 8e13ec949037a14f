/** Parts of an operation in the OpenAPI document that follow from how all routes are served, not from its schema. */
import type { FastifySchema } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { DeclaredRoute } from '../access.ts'
import type { Area } from '../app.ts'
import { errorSchemas, paymentRequiredSchema } from '../errors/error-schemas.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** The fields of a form, for routes that take one; only described, because a form is read as a stream. */
    form?: TSchema
    /** The alternative JSON body of such a route; only for the description, because its handler reads it. */
    json?: TSchema
    /** An event of the stream with which the route responds if the request wants one. */
    event?: TSchema
  }
}

interface Operation {
  route: DeclaredRoute
  schema: FastifySchema
  /** True if requests can carry the identity gateway's token. */
  hasGateway: boolean
}

type Content = Record<string, { schema: TSchema }>

/** Returns the route's schema with its operation id, security, request form and every possible response. */
export function describeOperation({ route, schema, hasGateway }: Operation): FastifySchema {
  const { access, operationId, byKey = true } = route.config
  const proofs = [...(byKey ? [{ apiKey: [] }] : []), hasGateway ? { gateway: [] } : {}]
  return {
    ...schema,
    ...(takesForm(schema) ? { body: formBody(schema) } : {}),
    ...(operationId === undefined ? {} : { operationId }),
    response: { ...successes(schema), ...failures(route) },
    ...(access === 'open' ? { security: [] } : {}),
    ...(access === 'user' || !byKey ? { security: proofs } : {}),
  }
}

function takesForm({ consumes }: FastifySchema): boolean {
  return consumes?.includes('multipart/form-data') ?? false
}

function formBody({ form = Type.Object({}), json }: FastifySchema): unknown {
  if (json === undefined) return form
  const content: Content = { 'multipart/form-data': { schema: form }, 'application/json': { schema: json } }
  return { content }
}

function successes({ event, response }: FastifySchema): Record<string, unknown> {
  const answers = response as Record<string, TSchema> | undefined
  const answer = answers?.['200']
  if (answer === undefined || event === undefined) return { ...answers }
  const content: Content = { 'application/json': { schema: answer }, 'text/event-stream': { schema: event } }
  return { ...answers, 200: { description: 'The answer as JSON or as a stream of events', content } }
}

function failures({ config }: DeclaredRoute): Record<string, unknown> {
  const { area, access, limit, soldAs } = config
  const inArea = { 'application/json': { schema: errorSchemas[area] } }
  const always = {
    ...(limit === 'none' ? {} : { 429: { ...answer('Too many requests', inArea), headers: waitHeaders } }),
    '4XX': answer('The request is invalid', inArea),
  }
  if (access === 'open') return always
  return {
    401: answer('The token or the API key is invalid or has expired', unauthorized[area] ?? generic),
    ...(access === 'anyone'
      ? {}
      : { 403: answer('The caller lacks the permission', { ...plainText, ...inArea }) }),
    ...always,
    ...(soldAs === undefined ? {} : { 402: answer('The call has to be paid for', forSale) }),
    ...(limit === 'chat' ? { 503: overloaded(area) } : {}),
    507: answer('The disk of the service is full or read-only', inArea),
    '5XX': answer('The service, or another service that it needs, failed', inArea),
  }
}

const generic: Content = { 'application/json': { schema: errorSchemas.generic } }
/** The payment provider refuses credentials with this status, too, and clients of OpenAI know one shape. */
const unauthorized: Partial<Record<Area, Content>> = {
  payments: { 'application/json': { schema: Type.Union([errorSchemas.generic, errorSchemas.payments]) } },
  openai: { 'application/json': { schema: errorSchemas.openai } },
}
const forSale: Content = { 'application/json': { schema: paymentRequiredSchema } }
const plainText: Content = { 'text/plain': { schema: Type.String() } }

const retryAfter = { 'Retry-After': Type.Integer({ description: 'Seconds to wait.' }) }

const waitHeaders = {
  ...retryAfter,
  'X-RateLimit-Limit': Type.Integer({ description: 'Number of requests allowed per minute.' }),
  'X-RateLimit-Remaining': Type.Integer({ description: 'Number of requests left in this minute.' }),
  'X-RateLimit-Reset': Type.Integer({ description: 'End of the minute, in Unix time in seconds.' }),
}

/** Returns the response of an overloaded service to a request that begins a turn. */
export function overloaded(area: Area) {
  const content = { 'application/json': { schema: errorSchemas[area] } }
  return { ...answer('The service is generating too many answers', content), headers: retryAfter }
}

function answer(description: string, content: Content) {
  return { description, content }
}
