/**
 * What validators of the service's own schemas have in common. They take these as they are: to check them, each would first
 * compile the schema of schemas, some 30 ms in which nobody is answered.
 */
export const ofOwnSchemas = { strict: false, validateSchema: false } as const
