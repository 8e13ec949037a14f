import { type Static, type TSchema, Type } from 'typebox'

/**
 * Options of validators for the service's own schemas: compiling these, each at its first use, must not delay
 * requests. They are not checked, for which each validator would first compile the schema of schemas, some 30
 * ms. Their code is not optimised, which took half of the time and which V8 does as well.
 */
export const ofOwnSchemas = { strict: false, validateSchema: false, code: { optimize: false } } as const

/**
 * Returns the schema of the value, or null, as a list of types, which a writer of responses distinguishes
 * itself: for a union it compiles a validator of everything around the union, at the first use of each route.
 */
export function orNull<Schema extends TSchema & { type: string }>(schema: Schema) {
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [schema.type, 'null'] })
}
