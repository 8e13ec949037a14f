/**
 * The configuration of a tool of type `http`. A *manual* tool was written by a person: an address with placeholders. An
 * *imported* one comes from an OpenAPI document: its arguments are placed by the rules of that document. An *argument*
 * is given by the caller of the tool; its *wire name* is what the remote service calls the same value.
 */
import { type Static, Type } from 'typebox'

export const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'] as const
export type Method = (typeof methods)[number]

export const manualMethods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD'] as const

const styles = ['simple', 'label', 'matrix', 'form', 'spaceDelimited', 'pipeDelimited', 'deepObject'] as const

const places = ['path', 'query', 'header', 'cookie'] as const

const strict = { additionalProperties: false }

/** Max parameters, fields and the like: each costs time in every call, and no import has that many. */
const maxEntries = { maxItems: 1000 }
const maxSchemes = { maxItems: 100 }

/** The place and the form of an argument. */
const placedArgumentSchema = Type.Object(
  {
    argument: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    in: Type.Enum([...places]),
    style: Type.Enum([...styles]),
    explode: Type.Boolean(),
    /** Reserved characters remain as they are in a query, except those that would end the value. */
    allowReserved: Type.Optional(Type.Boolean()),
    /** The value is written as JSON, in every style. */
    json: Type.Optional(Type.Boolean()),
    required: Type.Boolean(),
  },
  strict,
)
export type PlacedArgument = Static<typeof placedArgumentSchema>

/** The encoding of one field of a form, if not the default. */
const formFieldSchema = Type.Object(
  {
    name: Type.String(),
    style: Type.Optional(Type.Enum(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'])),
    explode: Type.Optional(Type.Boolean()),
    contentType: Type.Optional(Type.String()),
    /** Sent as a file, in a multipart form. */
    isFile: Type.Optional(Type.Boolean()),
  },
  strict,
)
export type FormField = Static<typeof formFieldSchema>

const requestBodySchema = Type.Object(
  {
    argument: Type.String({ minLength: 1 }),
    mediaType: Type.String({ minLength: 1 }),
    required: Type.Boolean(),
    fields: Type.Optional(Type.Array(formFieldSchema, maxEntries)),
  },
  strict,
)
export type RequestBody = Static<typeof requestBodySchema>

/** A way to authenticate; `scheme` is the name under which its credential is stored. */
const securitySchemeSchema = Type.Object(
  {
    scheme: Type.String({ minLength: 1 }),
    type: Type.Enum(['apiKey', 'basic', 'bearer']),
    /** The place and the name of an `apiKey`. */
    in: Type.Optional(Type.Enum(['header', 'query', 'cookie'])),
    name: Type.Optional(Type.String({ minLength: 1 })),
  },
  strict,
)
export type SecurityScheme = Static<typeof securitySchemeSchema>

/** JSON Schema of a tool's arguments. */
export interface ArgumentSchema {
  type: 'object'
  description?: string
  properties: Record<string, unknown>
  required?: string[]
  additionalProperties?: unknown
}
const argumentSchema = Type.Unsafe<ArgumentSchema>({
  type: 'object',
  properties: { type: { const: 'object' }, properties: { type: 'object' } },
  required: ['type', 'properties'],
})

export const importedConfigurationSchema = Type.Object({
  baseUrl: Type.String({ maxLength: 8000 }),
  pathTemplate: Type.String({ maxLength: 8000, pattern: '^/' }),
  method: Type.Enum([...methods]),
  pathParams: Type.Array(Type.String(), maxEntries),
  queryParams: Type.Array(Type.String(), maxEntries),
  parameters: Type.Optional(argumentSchema),
  /** Defaults to the places in `pathParams` and `queryParams`. */
  placement: Type.Optional(Type.Array(placedArgumentSchema, maxEntries)),
  requestBody: Type.Optional(requestBodySchema),
  /** Alternatives, each a list of schemes that are needed together; an empty one means that no credential is needed. */
  security: Type.Optional(Type.Array(Type.Array(securitySchemeSchema, maxSchemes), maxSchemes)),
})
export type ImportedConfiguration = Static<typeof importedConfigurationSchema>

export const manualConfigurationSchema = Type.Object({
  url: Type.String({ minLength: 1, maxLength: 8000 }),
  method: Type.Enum([...manualMethods]),
  /** A JSON object of request headers, as text. */
  headers: Type.Optional(Type.String({ maxLength: 32_000 })),
  parameters: Type.Optional(argumentSchema),
  /** A text or JSON value with placeholders. */
  body: Type.Optional(Type.Unknown()),
})
export type ManualConfiguration = Static<typeof manualConfigurationSchema>

export type HttpConfiguration = ImportedConfiguration | ManualConfiguration

export type Arguments = Record<string, unknown>

/** A token or key, or a user's name and password, by the name of the scheme. */
export type Credentials = Record<string, string | { username: string; password: string }>

/** A request that is ready to be sent through the outbound guard. */
export interface HttpRequest {
  url: string
  method: Method
  /** Names are in lower case. */
  headers: Record<string, string>
  body: string | Uint8Array<ArrayBuffer> | null
  /** Headers that must not be sent to another origin after a redirect. */
  secretHeaders: string[]
  /** Query parameters that contain secrets, to be kept out of logs and results. */
  secretQuery: string[]
  /** Schemes whose credential is needed but not set; the request is sent without them. */
  missingCredentials: string[]
}

export function isImported(configuration: HttpConfiguration): configuration is ImportedConfiguration {
  return 'pathTemplate' in configuration
}
