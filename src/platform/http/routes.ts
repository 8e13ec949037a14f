/** Routes as declarations. Routes that send a stream, or take a form or a file, call `app.route` itself. */
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, type TSchema, type TUnknown, Type } from 'typebox'
import type { App, Area } from './app.ts'
import { createFixedFields } from './fixed-fields.ts'
import { listMetaSchema, listParameters, type Page } from './lists/list-query.ts'
import { successSchema } from './responses/answers.ts'

/** The names of the parameters in a path: `'id' | 'taskId'` of `/agents/:id/calendar/:taskId`. */
type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

interface Given<Path extends string, Query extends TSchema, Body extends TSchema> {
  params: Record<NamesIn<Path>, string>
  query: Static<Query>
  body: Static<Body>
}

/** A route without its method and path. Its access is `viewer` for GET, else `admin`; its limit is `general`. */
interface Route<Path extends string, Query extends TSchema, Body extends TSchema, Result>
  extends Omit<FastifyContextConfig, 'area' | 'operationId' | 'url' | 'method'> {
  /** Name of the operation, after which clients name their functions. */
  name: string
  /** A verb in the imperative, then the noun. */
  summary: string
  description?: string
  /** Schemas of the path parameters that are not simply texts. */
  parameters?: Partial<Record<NamesIn<Path>, TSchema>>
  query?: Query
  headers?: TSchema
  body?: Body
  /** Max bytes of the body. */
  bodyLimit?: number
  /** For an update: reads the resource, if the route for reading it needs more than this one has. */
  current?(request: FastifyRequest & Given<Path, Query, Body>): unknown
  /** For an update: fields that neither it nor the service sets. */
  fixed?: readonly string[]
  /** For an update: fields that the service sets for this resource; they are removed if sent back. */
  derived?(resource: Record<string, unknown>): readonly string[]
  handle(request: FastifyRequest & Given<Path, Query, Body>, reply: FastifyReply): Result | Promise<Result>
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

const listQuery = Type.Object(listParameters)

/**
 * Declares routes below a path. `get`, `post`, `update` and `delete` respond with status 200, `create` with
 * 201; `remove` answers `{ success: true }`, and `list` `{ [rows]: …, meta }`.
 */
export function routesBelow<Base extends string>(app: App, base: Base, tag: string, area: Area = 'generic') {
  const guardFor = createFixedFields()

  function declare<Path extends string, Query extends TSchema, Body extends TSchema, Result>(
    [method, path, status]: [method: Method, path: Path, status: number],
    route: Route<`${Base}${Path}`, Query, Body, Result>,
    answer: TSchema,
    answerOf: (result: Result) => unknown = result => result,
  ): void {
    const { name, summary, description, parameters, query, headers, body, ...rest } = route
    const { bodyLimit, current, fixed, derived, handle, ...config } = rest
    const guard = guardFor(method, path, { body, answer, handle, current, fixed, derived })
    const access = method === 'GET' ? 'viewer' : 'admin'
    const params = parametersOf(base + path, parameters)
    const words = { summary, description, tags: [tag] }
    app.route({
      method,
      url: base + path,
      config: { area, access, limit: 'general', operationId: name, ...config },
      ...(bodyLimit === undefined ? {} : { bodyLimit }),
      ...(guard === undefined ? {} : { preValidation: guard.preValidation }),
      schema: given({ ...words, params, querystring: query, headers, body, response: { [status]: answer } }),
      async handler(request, reply) {
        // The schemas above ensure this type.
        const read = request as FastifyRequest & Given<`${Base}${Path}`, Query, Body>
        await guard?.require(request, reply)
        const result = await handle(read, reply)
        return reply.code(status).send(answerOf(result))
      },
    })
  }

  function answering(method: Method, status = 200) {
    return <
      Path extends string,
      Answer extends TSchema,
      Query extends TSchema = TUnknown,
      Body extends TSchema = TUnknown,
    >(
      path: Path,
      {
        answer,
        ...route
      }: { answer: Answer } & Route<`${Base}${Path}`, Query, Body, Static<NoInfer<Answer>>>,
    ) => declare([method, path, status], route, answer)
  }

  return {
    get: answering('GET'),
    create: answering('POST', 201),
    post: answering('POST'),
    update: answering('PUT'),
    delete: answering('DELETE'),
    remove<Path extends string, Query extends TSchema = TUnknown>(
      path: Path,
      route: Route<`${Base}${Path}`, Query, TUnknown, unknown>,
    ): void {
      declare(['DELETE', path, 200], route, successSchema, () => ({ success: true }))
    },
    list<Path extends string, Entry extends TSchema, Query extends TSchema = typeof listQuery>(
      path: Path,
      {
        rows: field,
        of,
        ...route
      }: { rows: string; of: Entry } & Route<`${Base}${Path}`, Query, TUnknown, Page<Static<NoInfer<Entry>>>>,
    ): void {
      const answer = Type.Object({ [field]: Type.Array(of), meta: listMetaSchema })
      const complete = { query: listQuery, ...route }
      declare(['GET', path, 200], complete, answer, ({ rows, meta }) => ({ [field]: rows, meta }))
    },
  }
}

function parametersOf(path: string, schemas: Readonly<Record<string, TSchema | undefined>> = {}) {
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name)
  if (names.length === 0) return undefined
  return Type.Object(Object.fromEntries(names.map(name => [name, schemas[name] ?? Type.String()])))
}

/** Removes undefined schemas, of which Fastify would warn. */
function given(schema: Record<string, unknown>) {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}
