/** The API as its own document describes it: what can be asked, and how every answer has to look. */
import { Ajv, type ValidateFunction } from 'ajv'

export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  examples?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
}

interface Parameter {
  in: string
  name: string
  required?: boolean
  schema: Schema
}

type Content = Record<string, { schema: Schema; example?: unknown }>

interface Described {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
  'x-event-stream'?: Content[string]
}

export interface Document {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

export interface Operation extends Described {
  method: string
  path: string
}

export interface Description {
  operations: Operation[]
  /** The schema itself, for one that is a reference. */
  resolve(schema: Schema): Schema
  /** What is wrong with a value; undefined if it fits. */
  problemOf(schema: Schema, value: unknown): string | undefined
}

export function describe(document: Document): Description {
  const { components } = document
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const validators = new WeakMap<Schema, ValidateFunction>()

  function validatorOf(schema: Schema): ValidateFunction {
    const known = validators.get(schema) ?? ajv.compile({ allOf: [schema], components })
    validators.set(schema, known)
    return known
  }

  return {
    operations: Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => ({ ...one, method: method.toUpperCase(), path })),
    ),
    resolve(schema) {
      const name = schema.$ref?.split('/').at(-1)
      return name === undefined ? schema : (components.schemas[name] ?? {})
    },
    problemOf(schema, value) {
      const validate = validatorOf(schema)
      return validate(value) ? undefined : ajv.errorsText(validate.errors)
    },
  }
}
