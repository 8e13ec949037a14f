import type { Transaction } from 'kysely'
import { embedQuery, noiseLevel } from '#models/embeddings/builtin-embedding.ts'
import { formFor, isPiece, queryTerms } from '#models/text-analysis/text-analysis.ts'
import type { SearchEngine, VectorSpace } from '#storage/search/search-engine.ts'
import type { AgentTables } from '#storage/tables.ts'
import { builtinSpace } from '../indexing/builtin-space.ts'
import { shownChunks } from '../indexing/generations.ts'
import { exactSpellings, knownBy, lookedUpFor } from './exact-spellings.ts'
import {
  builtinWeight,
  minCandidates,
  providerWeight,
  type QueryShares,
  type Rankings,
  type VectorRanking,
  withinReach,
} from './fusion.ts'

export interface ChunkQuery {
  text: string
  limit: number
  /** Restricts the search to these sources. */
  sourceIds?: readonly string[] | undefined
  /** Leaves out results with a lower score, 0 to 1. */
  minScore?: number | undefined
  /** The query embedded by the current provider; defaults to the built-in embedding. */
  embedded?: EmbeddedQuery | undefined
  /** Replaces `embedded` during a change: the query embedded by each embedding of the chunks. */
  mixed?: readonly MixedQuery[] | undefined
}

export interface EmbeddedQuery {
  space: VectorSpace
  vector: Float32Array
}

/** The query for the chunks of one embedding. */
export interface MixedQuery {
  embedding: string
  /** The vector; absent for the built-in embedding. */
  embedded?: EmbeddedQuery | undefined
}

interface RankingOptions {
  /** Number of entries read of each ranking; the query's `limit` of them reach the first ranks of both. */
  candidates?: number
  /** True to compare all vectors, including those that cannot rank among the first. */
  allVectors?: boolean
}

export async function rankings(
  transaction: Transaction<AgentTables>,
  engine: SearchEngine,
  query: ChunkQuery,
  { candidates = minCandidates, allVectors = false }: RankingOptions = {},
): Promise<Rankings> {
  const within = await shownChunks(transaction, query.sourceIds)
  const limit = Math.max(candidates, query.limit)
  const terms = firstAndLastTerms(query.text)
  const exact = exactSpellings(query.text)
  const spellings = lookedUpFor(exact)
  const otherForm = formFor(query.text)
  const otherForms = new Map(terms.map(term => [term, otherForm(term)]))
  const asked = new Set([...terms, ...otherForms.values(), ...spellings])
  const counts = await engine.countTerms(transaction, [...asked])
  const holding = (term: string) => counts.terms.get(term) ?? 0
  // Forms to look up: a term's other form, unless more chunks contain the plain word, such as chunks from
  // before there were forms.
  const forms = new Map(
    Iterator.from(otherForms).map(([term, other]) => [term, holding(other) >= holding(term) ? other : term]),
  )
  const countOf = (term: string) => counts.terms.get(forms.get(term) ?? term)
  const known = knownBy(terms, exact, term => countOf(term) !== undefined)
  const knowledge = knowledgeOf(known, countOf, counts.chunks)
  const lookedUp = new Set([...forms.values(), ...spellings])
  const wanted = new Map(Iterator.from(counts.terms).filter(([term]) => lookedUp.has(term)))
  const byText = await engine.rankByText(transaction, { ...counts, terms: wanted, within, limit })
  const text = byText.map(found => ({ ...found, similarity: found.similarity * knowledge.known }))

  async function nearest(embedded: EmbeddedQuery | undefined, among: typeof within): Promise<VectorRanking> {
    if (embedded !== undefined) {
      const { space, vector } = embedded
      const found = await engine.nearestByVector(transaction, space, { vector, within: among, limit })
      return { found, weight: providerWeight }
    }
    const weight = builtinWeight(knowledge)
    const byLetters = embedQuery(terms, knowledge.rarity)
    // The text search has usually found enough, so that few vectors have to be compared.
    const isEnough = query.mixed === undefined && !allVectors && text.length >= limit
    const reach = isEnough ? withinReach(weight, query.limit) : undefined
    const wanted =
      reach === undefined
        ? { within: among }
        : { among: text.slice(0, reach).map(({ sequence }) => sequence) }
    const near =
      byLetters &&
      (await engine.nearestByVector(transaction, builtinSpace, { ...byLetters, ...wanted, limit }))
    const found = near?.filter(({ similarity }) => similarity > noiseLevel) ?? []
    return { found, weight, isOfText: reach !== undefined }
  }

  if (query.mixed === undefined) return { text, vectors: [await nearest(query.embedded, within)] }
  const vectors: VectorRanking[] = []
  for (const { embedding, embedded } of query.mixed)
    vectors.push(await nearest(embedded, await shownChunks(transaction, query.sourceIds, embedding)))
  return { text, vectors }
}

/** Returns the terms at the beginning and end of a long text: a question is before or after its subject. */
function firstAndLastTerms(text: string): string[] {
  const [characters, terms] = [4_000, 32]
  const first = queryTerms(text.slice(0, characters)).slice(0, terms)
  const last = queryTerms(text.slice(-characters)).slice(-terms)
  return [...new Set([...first, ...last])]
}

/** Facts of the full-text index about a query. */
interface Knowledge extends QueryShares {
  /** Returns the inverse document frequency. */
  rarity: (term: string) => number
  /** The share of the terms that occur in any chunk. */
  known: number
}

/**
 * Number of virtual chunks without any of the terms, added to the real ones: among a handful of chunks every
 * word is frequent, and a single unknown word would outweigh several known ones.
 */
const background = 100

function knowledgeOf(
  terms: readonly string[],
  /** Returns the number of chunks that contain a term; undefined without any. */
  countOf: (term: string) => number | undefined,
  chunks: number,
): Knowledge {
  const rarity = (term: string) => {
    const count = countOf(term) ?? 0
    return Math.log(1 + (background + chunks - count + 0.5) / (count + 0.5))
  }
  const sum = (some: readonly string[]) => some.reduce((total, term) => total + rarity(term), 0)
  const all = sum(terms)
  const share = (some: readonly string[]) => (all === 0 ? 0 : sum(some) / all)
  const words = terms.filter(term => !isPiece(term))
  return {
    rarity,
    known: share(terms.filter(term => countOf(term) !== undefined)),
    words: share(words),
    unknownWords: share(words.filter(term => countOf(term) === undefined)),
  }
}
