import swagger from '@fastify/swagger'
import type { FastifySchema } from 'fastify'
import type { DeclaredRoute } from '../access.ts'
import type { App } from '../app.ts'
import { completeOperation, type Operation } from './complete-operation.ts'
import { describeOperation } from './operation.ts'

const description = [
  'Hosts AI agents that chat, answer from their own documents and act through tools.',
  'Paths of an agent begin with `/api/agents/{id}`. Callers without a user can reach the agent `default`.',
  'Answers on paths with a rate limit carry `X-RateLimit-Limit`, `X-RateLimit-Remaining` and',
  '`X-RateLimit-Reset`; all answers carry `X-Request-Id`.',
].join(' ')

type Json = Record<string, unknown>

type Paths = Record<string, Record<string, Operation>>

/** Collects the schemas of all routes registered after it; the document is made when it is first requested. */
export async function registerOpenApi(
  app: App,
  options: { version: string; baseUrl: string | undefined; gatewayHeader: string | undefined },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'agentstead',
        version: options.version,
        description,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      // The address is relative to the document's.
      servers: [{ url: options.baseUrl ?? '/' }],
      ...security(options.gatewayHeader),
    },
    transform: ({ schema, url, route }) => ({
      url,
      schema: describeOperation({
        route: route as DeclaredRoute,
        schema: (schema ?? {}) as FastifySchema,
        hasGateway: options.gatewayHeader !== undefined,
      }),
    }),
    hideUntagged: true,
    stripBasePath: false,
  })
}

/** Describes API keys, and the token of the identity gateway if there is one. */
function security(header: string | undefined) {
  const description = 'An API key, which begins with `asa_` (of an agent) or `asp_` (of a person).'
  const apiKey = { type: 'http' as const, scheme: 'bearer', description }
  if (header === undefined)
    return { components: { securitySchemes: { apiKey } }, security: [{ apiKey: [] }, {}] }
  const isBearer = header.toLowerCase() === 'authorization'
  const gateway = isBearer
    ? { type: 'http' as const, scheme: 'bearer', bearerFormat: 'JWT' }
    : { type: 'apiKey' as const, in: 'header', name: header }
  return {
    components: { securitySchemes: { apiKey, gateway } },
    security: [{ apiKey: [] }, { gateway: [] }, {}],
  }
}

/** Returns the OpenAPI 3.1 document of all routes, with each titled schema once among the components. */
export function openApiDocument(app: App): Json {
  const schemas: Record<string, unknown> = {}
  const described = structuredClone(app.swagger()) as unknown as Json & { paths: Paths }
  const tags = new Set<string>()
  for (const [path, methods] of Object.entries(described.paths))
    for (const operation of Object.values(methods)) {
      completeOperation(path, operation)
      for (const tag of operation.tags ?? []) tags.add(tag)
    }
  const document = hoist(described, schemas) as Json
  const components = { ...(document.components as Json | undefined), schemas }
  return { ...document, tags: [...tags].map(name => ({ name })), components }
}

/** Moves every schema that has a title to the components and leaves a reference in its place. */
function hoist(value: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(value)) return value.map(item => hoist(item, schemas))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [name, hoist(inner, schemas)] as const)
  const copy: Json = Object.fromEntries(entries)
  if (typeof copy.title !== 'string' || (copy.type !== 'object' && copy.anyOf === undefined)) return copy
  const other = schemas[copy.title]
  if (other !== undefined && JSON.stringify(other) !== JSON.stringify(copy))
    throw new Error(`Two schemas have the title ${copy.title}: rename one.`)
  schemas[copy.title] = copy
  return { $ref: `#/components/schemas/${copy.title}` }
}
