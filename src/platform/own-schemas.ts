import type { Static, TSchema } from 'typebox'
import { Type } from 'typebox'

/**
 * Options of validators for the service's own schemas, so that compiling these, at the first use of each, keeps
 * no request waiting for long. They are taken as they are: to check them, each validator would first compile the schema of
 * schemas, some 30 ms. And the code for them is not tidied, which took half of the time and which V8 does as well.
 */
export const ofOwnSchemas = { strict: false, validateSchema: false, code: { optimize: false } } as const

/**
 * The described value, or null. Said as a list of types, which a writer of answers distinguishes by itself: for a union
 * it compiles a validator of all that the union is part of, at the first use of each route.
 */
export function orNull<Schema extends TSchema & { type: string }>(schema: Schema) {
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [schema.type, 'null'] })
}
