/**
 * Full-text and vector search over the chunks of an agent, implemented by each engine. A chunk is identified by its
 * `sequence`; every function takes part in the transaction that it is called with.
 */
import type { Expression, Kysely, QueryExecutorProvider, Transaction } from 'kysely'
import type { AgentTables } from '../tables.ts'

/** A worker's own connection to the database of one agent. */
export interface SearchDatabase {
  db: Kysely<AgentTables>
  engine: SearchEngine
}

export interface SearchEngine {
  /** True if writers wait for one another: transactions have to be short, with pauses for others. */
  singleWriter: boolean
  /** Runs `work` on one state of the database, in which nothing can be written. */
  readSnapshot<Result>(
    db: Kysely<AgentTables>,
    work: (snapshot: Transaction<AgentTables>) => Promise<Result>,
  ): Promise<Result>
  writeFullText(db: QueryExecutorProvider, texts: readonly StoredText[]): Promise<void>
  removeFullText(db: QueryExecutorProvider, sequence: number): Promise<void>
  /** Counts the chunks that contain each term, and all chunks. */
  countTerms(db: QueryExecutorProvider, terms: readonly string[]): Promise<TermCounts>
  /**
   * Ranks the chunks that contain any of the terms by BM25, best first. Their similarity is their BM25 score
   * as a share of the score of a chunk of average length with every term once.
   */
  rankByText(db: QueryExecutorProvider, query: TextQuery): Promise<Found[]>

  /** Creates the table of a space if there is none. */
  createVectors(db: QueryExecutorProvider, space: VectorSpace): Promise<void>
  /** Writes vectors in the order of their sequences. A vector of zeros has no direction and is left out. */
  writeVectors(db: QueryExecutorProvider, space: VectorSpace, vectors: readonly StoredVector[]): Promise<void>
  /** Removes a chunk's vectors from these tables, as listed by `vectorTables`. */
  removeVectors(db: QueryExecutorProvider, tables: readonly string[], sequence: number): Promise<void>
  /** Lists the tables of all spaces, including those of former embeddings, ordered by name. */
  vectorTables(db: QueryExecutorProvider): Promise<string[]>
  /**
   * Returns the nearest chunks, nearest first; none if the space has no table. Vectors that point away from
   * the query have the similarity 0.
   */
  nearestByVector(db: QueryExecutorProvider, space: VectorSpace, query: NearestQuery): Promise<Found[]>
}

/** A chunk that was found; similarities are 0 to 1, higher is better. */
export interface Found {
  sequence: number
  similarity: number
}

/** Facts of an index about some terms. */
export interface TermCounts {
  /** Terms that occur in at least one chunk, with the number of chunks that contain each. */
  terms: ReadonlyMap<string, number>
  /** Number of chunks in the index. */
  chunks: number
}

export interface TextQuery extends TermCounts {
  limit: number
  /** Selects the sequences of the chunks that count; defaults to all. */
  within?: Expression<unknown> | undefined
}

/** The vectors of one embedding, which can be compared with one another and with no others. */
export interface VectorSpace {
  /** Name of the embedding, such as `openai/text-embedding-3-small`. */
  id: string
  dimensions: number
  /**
   * `floats`: a `Float32Array`, compared by the cosine. `bits`: a `Uint8Array` with one bit per dimension, where the
   * share of differing bits is the angle divided by π.
   */
  form: 'floats' | 'bits'
}

export type Vector = Float32Array | Uint8Array

/** The vector of a chunk. */
export interface StoredVector {
  sequence: number
  vector: Vector
}

/** The full-text index's content of a chunk: the result of `searchableText`. */
export interface StoredText {
  sequence: number
  text: string
}

export interface NearestQuery {
  vector: Vector
  /** The values whose signs a vector of bits holds; an engine can use them for a more exact comparison. */
  values?: Float32Array | undefined
  /** Max number of results, at most 4096. */
  limit: number
  /** Selects the sequences of the chunks that count; defaults to all. */
  within?: Expression<unknown> | undefined
  /** The sequences of the few chunks to compare, instead of `within`. */
  among?: readonly number[] | undefined
}
