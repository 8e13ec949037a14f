import { type QueryExecutorProvider, sql } from 'kysely'
import { isDuplicate, isForbidden } from '../connections/errors.ts'

/** Returns the schema that contains pgvector's types and operators; undefined without pgvector. */
export async function extensionSchema(db: QueryExecutorProvider): Promise<string | undefined> {
  const { rows } = await sql<{ schema: string }>`
    select nspname as schema from pg_extension join pg_namespace on pg_namespace.oid = extnamespace
    where extname = 'vector'
  `.execute(db)
  return rows[0]?.schema
}

/**
 * Installs pgvector in the schema of this connection if the server offers it, this user may install it, and it is not
 * installed yet. Without it, providers' vectors are fetched and compared by the search threads.
 */
export async function ensureVectorExtension(db: QueryExecutorProvider): Promise<void> {
  if ((await extensionSchema(db)) !== undefined || !(await isOffered(db))) return
  try {
    await sql`create extension if not exists vector`.execute(db)
  } catch (error) {
    if (!isDuplicate(error) && !isForbidden(error)) throw error
  }
}

async function isOffered(db: QueryExecutorProvider): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_available_extensions where name = 'vector'`.execute(db)
  return rows.length > 0
}
