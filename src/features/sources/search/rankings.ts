import type { Transaction } from 'kysely'
import { embedQuery, noiseLevel } from '#models/embeddings/builtin-embedding.ts'
import { formFor, isPiece, queryTerms } from '#models/text-analysis/text-analysis.ts'
import type { SearchEngine, VectorSpace } from '#storage/search-engine.ts'
import type { AgentTables } from '#storage/tables.ts'
import { builtinSpace } from './builtin-space.ts'
import type { QueryShares, Rankings, VectorRanking } from './fusion.ts'
import { builtinWeight, leastCandidates, providerWeight, withinReach } from './fusion.ts'
import { shownChunks } from './generations.ts'

export interface ChunkQuery {
  text: string
  limit: number
  /** Search this source only. */
  sourceId?: string | undefined
  /** Leave out what scores less, 0 to 1. */
  minScore?: number | undefined
  /** The query as the provider in use embeds it; without it the built-in embedding is used. */
  embedded?: EmbeddedQuery | undefined
  /** While chunks change their embedding, in the place of `embedded`: the query by each of those that they have. */
  mixed?: readonly MixedQuery[] | undefined
}

export interface EmbeddedQuery {
  space: VectorSpace
  vector: Float32Array
}

/** The query for the chunks of one embedding. */
export interface MixedQuery {
  /** Names the embedding. */
  embedding: string
  /** Absent for the built-in one. */
  embedded?: EmbeddedQuery | undefined
}

interface RankingOptions {
  /** How many are read of each ranking, of which the `limit` of the query come to the first ranks of both. */
  candidates?: number
  /** Whether all vectors are compared, also those that can't come among the first by their rank. */
  allVectors?: boolean
}

/** Reads both rankings from the indexes. */
export async function rankings(
  transaction: Transaction<AgentTables>,
  engine: SearchEngine,
  query: ChunkQuery,
  { candidates = leastCandidates, allVectors = false }: RankingOptions = {},
): Promise<Rankings> {
  const within = await shownChunks(transaction, query.sourceId)
  const limit = Math.max(candidates, query.limit)
  const terms = firstAndLastTerms(query.text)
  const otherForm = formFor(query.text)
  const counts = await engine.countTerms(transaction, [...new Set([...terms, ...terms.map(otherForm)])])
  const holding = (term: string) => counts.terms.get(term) ?? 0
  // What a term is found by: its other form, unless more chunks hold the word as it is, such as those from before there were forms.
  const form = (term: string) => (holding(otherForm(term)) >= holding(term) ? otherForm(term) : term)
  const knowledge = knowledgeOf(terms, term => counts.terms.get(form(term)), counts.chunks)
  const asked = new Map([...counts.terms].filter(([term]) => terms.some(other => form(other) === term)))
  const byText = await engine.rankByText(transaction, { ...counts, terms: asked, within, limit })
  const text = byText.map(found => ({ ...found, similarity: found.similarity * knowledge.known }))

  async function nearest(embedded: EmbeddedQuery | undefined, among: typeof within): Promise<VectorRanking> {
    if (embedded !== undefined) {
      const { space, vector } = embedded
      const found = await engine.nearestByVector(transaction, space, { vector, within: among, limit })
      return { found, weight: providerWeight }
    }
    const weight = builtinWeight(knowledge)
    const byLetters = embedQuery(terms, knowledge.rarity)
    // As a rule the text has found enough, and few of that are to be compared.
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
    vectors.push(await nearest(embedded, await shownChunks(transaction, query.sourceId, embedding)))
  return { text, vectors }
}

/** Of a long text the beginning and the end are searched for: a question stands before or after what it is about. */
function firstAndLastTerms(text: string): string[] {
  const [characters, terms] = [4_000, 32]
  const first = queryTerms(text.slice(0, characters)).slice(0, terms)
  const last = queryTerms(text.slice(-characters)).slice(-terms)
  return [...new Set([...first, ...last])]
}

/** What the full-text index knows of a query. */
interface Knowledge extends QueryShares {
  /** Inverse document frequency. */
  rarity: (term: string) => number
  /** Share of the terms that any chunk holds. */
  known: number
}

/**
 * Chunks that are imagined beside those there are, without any of the terms: in a handful of chunks every word is frequent,
 * and one unknown word would outweigh several known ones.
 */
const background = 100

function knowledgeOf(
  terms: readonly string[],
  /** The number of chunks that hold a term; undefined if none does. */
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
