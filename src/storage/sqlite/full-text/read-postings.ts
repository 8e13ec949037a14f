/**
 * Reads the list of a term from the full-text index, with the values that FTS5's `bm25()` would give if it did not count
 * the chunks that were removed: with each of these, all words would seem rarer, and lengths would be compared with theirs.
 */
import type { QueryExecutorProvider } from 'kysely'
import { weightOf } from '../../search/term-weight.ts'
import { quoted } from '../quoted.ts'
import { runText } from '../run-text.ts'
import type { IndexState } from './index-state.ts'
import { type LengthOf, tokenLengths } from './token-lengths.ts'
import { tokensOf } from './tokens.ts'

export interface Postings {
  /** In ascending order. */
  sequences: Uint32Array
  /** The BM25 value of the term in each chunk. */
  values: Float32Array
}

/** Reads the lists of some terms, all of which have to be named in advance. */
export async function createReader(db: QueryExecutorProvider, state: IndexState, terms: readonly string[]) {
  const tokens = new Map<string, string | undefined>()
  let lengthOf = terms.length === 0 ? undefined : await tokenLengths(db, state)
  let isAnew = false
  if (lengthOf !== undefined) {
    const found = await tokensOf(db, terms)
    terms.forEach((term, index) => {
      tokens.set(term, found[index])
    })
    await runText(
      db,
      `create virtual table if not exists temp.chunk_places using fts5vocab('main', 'chunk_text', 'instance')`,
    )
  }

  /**
   * A chunk that contains a term has a length: one without was indexed after the lengths were read, but has a lower
   * sequence than newer ones.
   */
  async function lengthsFor(places: readonly number[]): Promise<LengthOf | undefined> {
    if (!isAnew && places.some(sequence => lengthOf?.(sequence) === 0)) {
      lengthOf = await tokenLengths(db, state, { anew: true })
      isAnew = true
    }
    return lengthOf
  }

  async function readShort(term: string, most: number): Promise<Postings | undefined> {
    const token = tokens.get(term)
    if (lengthOf === undefined || token === undefined) return undefined
    const [row] = await runText<{ places: string }>(
      db,
      // With a bare parameter as its limit, SQLite would prepare the statement again each time.
      `select json_group_array(doc) as places
       from (select doc from temp.chunk_places where term = ? limit cast(? as integer))`,
      token,
      most,
    )
    const places = JSON.parse(row?.places ?? '[]') as number[]
    if (places.length >= most) return undefined
    const lengths = await lengthsFor(places)
    return lengths && valued(places, state, lengths)
  }

  return {
    /** Returns undefined for a term with at least `most` occurrences, or one that needs FTS5's help. */
    readShort,
    read: async (term: string) =>
      (await readShort(term, Number.MAX_SAFE_INTEGER)) ?? (await readByText(db, state, term)),
  }
}

/** FTS5's parameters of BM25. */
const [saturation, lengthShare] = [1.2, 0.75]

/** @param places the sequences of the chunks, each repeated for every occurrence of the term in it. */
function valued(places: readonly number[], { chunks, tokens }: IndexState, lengthOf: LengthOf): Postings {
  const sequences = new Uint32Array(places.length)
  const times = new Uint32Array(places.length)
  let count = 0
  for (const sequence of places) {
    if (count === 0 || sequences[count - 1] !== sequence) sequences[count++] = sequence
    times[count - 1] = (times[count - 1] ?? 0) + 1
  }
  const weight = weightOf(count, chunks) * (saturation + 1)
  const average = tokens / chunks
  const values = new Float32Array(count)
  for (let index = 0; index < count; index += 1) {
    const length = 1 - lengthShare + (lengthShare * lengthOf(sequences[index] ?? 0)) / average
    const often = times[index] ?? 0
    values[index] = (weight * often) / (often + saturation * length)
  }
  return { sequences: sequences.slice(0, count), values }
}

async function readByText(
  db: QueryExecutorProvider,
  { chunks, totals }: IndexState,
  term: string,
): Promise<Postings> {
  // The limit prevents SQLite from flattening the inner query: `bm25()` cannot be called next to an aggregate.
  const [row] = await runText<{ sequences: string; amounts: string }>(
    db,
    `select json_group_array(sequence) as sequences, json_group_array(amount) as amounts from (
      select rowid as sequence, cast(bm25(chunk_text) * ? as integer) as amount from chunk_text
      where chunk_text match ? order by rowid limit -1 offset 0
    )`,
    -precision,
    quoted(term),
  )
  const sequences = Uint32Array.from(JSON.parse(row?.sequences ?? '[]') as number[])
  const amounts = JSON.parse(row?.amounts ?? '[]') as number[]
  const weight = weightOf(sequences.length, chunks) / weightOf(sequences.length, totals.chunks)
  return { sequences, values: Float32Array.from(amounts, amount => (amount / precision) * weight) }
}

/** Integers are faster to parse than fractions. */
const precision = 1e9
