import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { Kysely, type PostgresPoolClient, sql } from 'kysely'
import { onTestFinished } from 'vitest'
import { createPostgresDialect } from '#storage/postgres/connections/dialect.ts'

/**
 * A PostgreSQL inside this process, since the server of the other tests has no pgvector, which this one could install. It
 * takes seconds to start, stands in the schema `agent` with a few chunks, and ends when the running test has finished.
 */
export async function openInProcess(): Promise<Kysely<unknown>> {
  const server = await PGlite.create({ extensions: { vector } })
  const client = {
    query: (text: string, parameters: unknown[]) => server.query(text, [...parameters]),
    release: () => {},
  } as unknown as PostgresPoolClient
  const pool = { options: {}, connect: async () => client, end: () => server.close() }
  const db = new Kysely<unknown>({ dialect: createPostgresDialect(pool) })
  onTestFinished(() => db.destroy())
  await sql`create schema agent`.execute(db)
  await sql`set search_path = agent`.execute(db)
  await sql`create table chunks (sequence bigint primary key)`.execute(db)
  await sql`insert into chunks select generate_series(1, 9)`.execute(db)
  return db
}
