/** The full-text index contains nothing beyond its chunks: it is rebuilt rather than copied. */
import { sql } from 'kysely'
import { inTransaction } from '#platform/transactions/transaction.ts'
import type { SearchEngine } from '../search/search-engine.ts'
import { readPages } from './pages.ts'
import type { AnyDatabase } from './storage-end.ts'

/** Returns the full-text index's content of a chunk. */
export type SearchableText = (chunk: { content: string; section: string | null }) => string

type Search = Pick<SearchEngine, 'writeFullText' | 'countTerms'>

/** Chunks of a draft that are not indexed yet are left out: the job that continues the draft indexes them. */
const isIndexed = sql`sequence <= (
  select indexed_sequence from chunk_generations
  where chunk_generations.source_id = chunks.source_id and chunk_generations.document = chunks.document
)`

export async function rebuildFullText(
  { db, search }: { db: AnyDatabase; search: Search },
  searchableText: SearchableText,
  onRows: (count: number) => void,
): Promise<void> {
  const columns = ['sequence', 'content', 'section']
  const selection = { table: 'chunks', columns, key: ['sequence'] as [string], where: isIndexed }
  for await (const page of readPages(db, selection)) {
    const chunks = page as { sequence: number; content: string; section: string | null }[]
    const texts = chunks.map(chunk => ({ sequence: chunk.sequence, text: searchableText(chunk) }))
    await inTransaction(db, transaction => search.writeFullText(transaction, texts))
    onRows(page.length)
  }
}

/** @throws Error if a chunk that should be in the index is missing. */
export async function requireFullText({ db, search }: { db: AnyDatabase; search: Search }): Promise<void> {
  const { rows } = await sql<{
    count: number
  }>`select count(*) as count from chunks where ${isIndexed}`.execute(db)
  const expected = rows[0]?.count ?? 0
  const { chunks } = await search.countTerms(db, [])
  if (chunks !== expected)
    throw new Error(`table chunk_text: the full-text index holds ${chunks} chunks instead of ${expected}`)
}
