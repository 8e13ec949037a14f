/** Full-text search over the chunks of an agent. The contract of each function stands in `search-engine.ts`. */
import type { QueryExecutorProvider } from 'kysely'
import { sql } from 'kysely'

/** For the migration that makes the tables. */
export async function createFullText(db: QueryExecutorProvider): Promise<void> {
  await sql`create table chunk_text (
    sequence bigint primary key references chunks (sequence) on delete cascade,
    terms tsvector not null,
    length integer not null
  )`.execute(db)
  await sql`create index chunk_text_terms on chunk_text using gin (terms)`.execute(db)
}
