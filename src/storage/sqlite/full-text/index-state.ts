/** The state of a full-text index, by which threads see whether their caches of it are still valid. */
import { hash } from 'node:crypto'
import type { QueryExecutorProvider } from 'kysely'
import { LRUCache } from 'lru-cache'
import { runText } from '../run-text.ts'
import { oncePerSnapshot } from '../snapshot.ts'

export interface IndexState {
  /** Unique among all indexes and times. Short, because the keys of everything cached begin with it. */
  name: string
  file: string
  /** The greatest sequence, and the id of its chunk: the path of a former file might have been reused. */
  newest: number | null
  newestId: string | null
  /** Number of existing chunks, and of tokens in them. */
  chunks: number
  tokens: number
  /** The totals that FTS5 keeps for BM25, which still count all removed chunks. */
  totals: Totals
}

interface Row {
  file: string
  newest: number | null
  id: string | null
  /** Written by FTS5 with every change: its totals, and the list of its segments with the number of removals in each. */
  totals: Uint8Array | null
  segments: Uint8Array | null
}

const query = `
  select (select file from pragma_database_list where name = 'main') as file, newest,
    (select id from chunks where sequence = newest) as id,
    (select block from chunk_text_data where id = 1) as totals,
    (select block from chunk_text_data where id = 10) as segments
  from (select max(id) as newest from chunk_text_docsize)`

/** Characters of a name, with 64 possible values each: 120 bits. */
const nameLength = 20

interface Totals {
  chunks: number
  tokens: number
}

/** The totals of the latest states of indexes by name: each state is counted once. */
const totalsOf = new LRUCache<string, Totals>({ max: 32 })

export const stateOf = oncePerSnapshot(readState)

async function readState(db: QueryExecutorProvider): Promise<IndexState> {
  const [row] = await runText<Row>(db, query)
  if (row === undefined) throw new Error('the state of the index gave no row')
  const { file, newest, id, totals, segments } = row
  const records = [totals, segments].map(block => Buffer.from(block ?? []).toString('base64'))
  const name = hash('sha256', [file, newest, id, ...records].join(' '), 'base64url').slice(0, nameLength)
  const [all = 0, tokens = 0] = totals === null ? [] : numbersIn(totals)
  const ever = { chunks: all, tokens }
  const liveTotals = totalsOf.get(name) ?? (await countHeld(db, ever))
  totalsOf.set(name, liveTotals)
  return { name, file, newest, newestId: id, ...liveTotals, totals: ever }
}

async function countHeld(db: QueryExecutorProvider, ever: Totals): Promise<Totals> {
  const [row] = await runText<{ count: number }>(db, 'select count(*) as count from chunk_text_docsize')
  const chunks = row?.count ?? 0
  return chunks === ever.chunks ? ever : { chunks, tokens: await countTokens(db) }
}

async function countTokens(db: QueryExecutorProvider): Promise<number> {
  const [row] = await runText<{ sizes: Uint8Array | null }>(
    db,
    `select cast(group_concat(sz, '') as blob) as sizes from chunk_text_docsize`,
  )
  return numbersIn(row?.sizes ?? new Uint8Array()).reduce((sum, size) => sum + size, 0)
}

/** Returns the key under which a fact about a term is cached. */
export function nameOf({ name }: IndexState, term: string): string {
  return `${name} ${term}`
}

/**
 * Decodes FTS5's variable-length integers: seven bits per byte, most significant first; only the last byte lacks the
 * high bit.
 */
export function numbersIn(bytes: Uint8Array): number[] {
  const numbers: number[] = []
  let number = 0
  for (const byte of bytes) {
    number = number * 0x80 + (byte & 0x7f)
    if (byte >= 0x80) continue
    numbers.push(number)
    number = 0
  }
  return numbers
}
