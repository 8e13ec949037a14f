/**
 * Full text and vectors over the chunks of an agent, in the words that each engine has for them. A chunk goes by its
 * `sequence`; every function takes part in the transaction that it is called with.
 */
import type { Expression, Kysely, QueryExecutorProvider } from 'kysely'
import type { AgentTables } from './tables.ts'

/** A worker's own connection to the database of one agent. */
export interface SearchDatabase {
  db: Kysely<AgentTables>
  engine: SearchEngine
}

export interface SearchEngine {
  /** Writers wait for the end of one another's transactions, which therefore are to be short and to leave room for others. */
  singleWriter: boolean
  /** `text` is what `searchableText` made of the chunk. */
  writeFullText(db: QueryExecutorProvider, sequence: number, text: string): Promise<void>
  removeFullText(db: QueryExecutorProvider, sequence: number): Promise<void>
  /** The terms that chunks hold, with the number of chunks that hold each, and the number of all chunks. */
  countTerms(db: QueryExecutorProvider, terms: readonly string[]): Promise<TermCounts>
  /**
   * The chunks that hold any of the terms, by BM25, best first. The similarity is their BM25 value as a share of what a
   * chunk of average length gets that holds every term once.
   */
  rankByText(db: QueryExecutorProvider, query: TextQuery): Promise<Found[]>

  /** Makes the table of a space where there is none. */
  createVectors(db: QueryExecutorProvider, space: VectorSpace): Promise<void>
  /** A vector of zeros points nowhere and is left out. */
  writeVector(db: QueryExecutorProvider, space: VectorSpace, sequence: number, vector: Vector): Promise<void>
  /** Removes a chunk's vectors from the tables named, as `vectorTables` tells them. */
  removeVectors(db: QueryExecutorProvider, tables: readonly string[], sequence: number): Promise<void>
  /** The tables of all spaces, those of former embeddings included, in the order of their names. */
  vectorTables(db: QueryExecutorProvider): Promise<string[]>
  /**
   * The nearest chunks, nearest first; none of a space that has no table. What points away from the query has the
   * similarity 0.
   */
  nearestByVector(db: QueryExecutorProvider, space: VectorSpace, query: NearestQuery): Promise<Found[]>
}

/** A chunk that was found; more is better, 0 to 1. */
export interface Found {
  sequence: number
  similarity: number
}

/** What an index knows of some terms. */
export interface TermCounts {
  /** Terms that at least one chunk holds, with the number of chunks that hold each. */
  terms: ReadonlyMap<string, number>
  /** Number of chunks in the index. */
  chunks: number
  /** Tells the state of the index that this holds for from those of all other indexes and times, where the engine knows it. */
  state?: string
}

export interface TextQuery extends TermCounts {
  limit: number
  /** Selects the sequences of the chunks that count; all do without it. */
  within?: Expression<unknown> | undefined
}

/** The vectors of one embedding, which may be compared with one another and with no others. */
export interface VectorSpace {
  /** Names the embedding, such as `openai/text-embedding-3-small`. */
  id: string
  dimensions: number
  /**
   * `floats`: a `Float32Array`, similar by the cosine. `bits`: a `Uint8Array` with a bit a dimension, where the share of
   * bits that differ is the angle divided by π.
   */
  form: 'floats' | 'bits'
}

export type Vector = Float32Array | Uint8Array

export interface NearestQuery {
  vector: Vector
  /** Of a vector of bits: the values of which they are the signs, which an engine may take for a closer look. */
  values?: Float32Array | undefined
  /** At most 4096. */
  limit: number
  /** Selects the sequences of the chunks that count; all do without it. */
  within?: Expression<unknown> | undefined
  /** The sequences of the few chunks that are to be compared, in the place of `within`. */
  among?: readonly number[] | undefined
}
