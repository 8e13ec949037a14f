import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { queryDatabase } from './postgres/databases.ts'
import { storageEnvironment } from './postgres/environment.ts'

/** The agents that have a database of their own, on whichever engine the tests run. */
export async function agentsWithData(dataDirectory: string): Promise<string[]> {
  const { DATABASE_URL: url } = await storageEnvironment(dataDirectory)
  if (url === undefined) return readdirSync(join(dataDirectory, 'agents'))
  const schemas = await queryDatabase<{ name: string }>(
    url,
    "select substr(nspname, 7) as name from pg_namespace where nspname like 'agent\\_%'",
  )
  return schemas.map(({ name }) => name)
}
