import type { Pool } from 'pg'
import { AppError } from '#platform/errors.ts'

const oldestVersion = 15

interface ServerFacts {
  version: number
  encoding: string
  mayCreate: boolean
}

/** @throws AppError with a sentence for the operator when the database can't be used. */
export async function checkServer(pool: Pool, url: string): Promise<void> {
  const { version, encoding, mayCreate } = await readFacts(pool, url)
  const major = Math.floor(version / 10_000)
  if (major < oldestVersion)
    throw unusable(`it is PostgreSQL ${major}; version ${oldestVersion} or newer is needed.`)
  if (encoding !== 'UTF8')
    throw unusable(
      `its encoding is ${encoding}. Create it anew with: createdb --encoding=UTF8 --template=template0`,
    )
  if (!mayCreate)
    throw unusable(
      "its user may not create schemas in it. Give the right with: grant create on database … to …, as the database's owner.",
    )
}

async function readFacts(pool: Pool, url: string): Promise<ServerFacts> {
  try {
    const { rows } = await pool.query<ServerFacts>(`
      select current_setting('server_version_num')::integer as version, current_setting('server_encoding') as encoding,
        has_database_privilege(current_database(), 'create') as "mayCreate"`)
    const [facts] = rows
    if (facts === undefined) throw new Error('it answers nothing')
    return facts
  } catch (error) {
    const { host, pathname } = new URL(url)
    throw new AppError(
      'INTERNAL_ERROR',
      `The database ${pathname.slice(1)} at ${host} can't be opened: ${reasonOf(error)}. Check DATABASE_URL, and that the server runs.`,
      { cause: error },
    )
  }
}

/** A host name with several addresses fails with one error for each of them. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}

function unusable(why: string): AppError {
  return new AppError('INTERNAL_ERROR', `The database that DATABASE_URL names can't be used: ${why}`)
}
