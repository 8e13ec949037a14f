import type { TestProject } from 'vitest/node'
import { prepareDatabases } from './databases.ts'
import { startPostgres } from './server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of a PostgreSQL server; the tests of a project that has none run on the embedded databases. */
    postgresUrl?: string
  }
}

/** Gives a project's tests a server of PostgreSQL: that of TEST_DATABASE_URL, or one of their own. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const existing = process.env.TEST_DATABASE_URL
  const server = existing ? { url: existing, stop: async () => {} } : await startPostgres()
  const removeDatabases = await prepareDatabases(server.url)
  provide('postgresUrl', server.url)
  return async () => {
    await removeDatabases()
    await server.stop()
  }
}
