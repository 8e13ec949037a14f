/**
 * What validators of the service's own schemas have in common, so that compiling these, at the first use of each, keeps
 * nobody waiting for long. They are taken as they are: to check them, each validator would first compile the schema of
 * schemas, some 30 ms. And the code for them is not tidied, which took half of the time and which V8 does as well.
 */
export const ofOwnSchemas = { strict: false, validateSchema: false, code: { optimize: false } } as const
