import { LRUCache } from 'lru-cache'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { CitedPassage, Passage, SearchedPassage } from '#models/language-model/passages.ts'
import { notFound } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { EmbeddingChanges } from './embedding/embedding-changes.ts'
import type { SearchQuery, SearchResult } from './knowledge.schema.ts'
import { choosePassages } from './search/choose-passages.ts'
import { findNamedSources } from './search/named-sources.ts'
import { createPrepareQuery } from './search/prepare-query.ts'
import type { SearchIndex } from './search/search-index.ts'
import { shownEmbeddings } from './search/shown-embeddings.ts'
import { isSource } from './source-rows.repository.ts'

/** Number of results from which a question's passages are chosen, and the min score of each. */
const automaticResults = 24
const usefulScore = 0.2

interface Dependencies {
  index: SearchIndex
  /** Returns the model with this name, as the agent can use it; throws if the agent cannot. */
  embeddingNamed(agentId: string, name: string): Promise<EmbeddingModel>
  changes: Pick<EmbeddingChanges, 'follow'>
  /** True if no other process uses the databases: reading here is then cheaper than within a search. */
  isExclusive: boolean
  log: Log
}

/** A passage with its place, which the prompt leaves out. */
export interface FoundPassage extends Passage {
  cited: CitedPassage
}

export function createKnowledgeService({ index, embeddingNamed, changes, isExclusive, log }: Dependencies) {
  const prepare = createPrepareQuery({ embeddingNamed, changes, log })
  /** The embeddings of an agent's visible chunks. They seldom change, and the search thread checks them. */
  const lastShown = new LRUCache<string, string[]>({ max: 1_000 })

  async function searchAll(
    agent: AgentHandle,
    query: SearchQuery,
    signal: AbortSignal,
  ): Promise<SearchResult[]> {
    const expected = isExclusive ? undefined : lastShown.get(agent.agentId)
    if (expected === undefined) return await searchBy(await shownEmbeddings(agent.db), agent, query, signal)
    const prepared = await prepare(agent, query, expected, signal)
    const answer = await index.searchExpecting(agent.path, prepared, expected, signal)
    return 'results' in answer ? answer.results : await searchBy(answer.current, agent, query, signal)
  }

  async function searchBy(
    shown: string[],
    agent: AgentHandle,
    query: SearchQuery,
    signal: AbortSignal,
  ): Promise<SearchResult[]> {
    // Most agents have no sources at first, and should not wait for a thread to report it.
    if (query.source_id === undefined) lastShown.set(agent.agentId, shown.length === 0 ? undefined : shown)
    if (shown.length === 0) return []
    return await index.search(agent.path, await prepare(agent, query, shown, signal), signal)
  }

  async function search(
    agent: AgentHandle,
    query: SearchQuery,
    signal: AbortSignal = agent.signal,
  ): Promise<SearchResult[]> {
    const { source_id } = query
    if (source_id === undefined) return await searchAll(agent, query, signal)
    for (const id of new Set(source_id)) if (!(await isSource(agent.db, id))) throw notFound('Source')
    return await searchBy(await shownEmbeddings(agent.db, source_id), agent, query, signal)
  }

  /** Searches only the sources that the query names, if those have a fitting passage. */
  async function lookUp(
    agent: AgentHandle,
    query: SearchQuery,
    signal: AbortSignal,
  ): Promise<SearchResult[]> {
    const [named, results] = await Promise.all([
      findNamedSources(agent.db, query.query),
      searchAll(agent, query, signal),
    ])
    if (named === undefined) return results
    const { sourceIds: source_id, rest } = named
    const within = { ...query, query: rest, source_id, min_score: usefulScore }
    const ofNamed = await searchBy(await shownEmbeddings(agent.db, source_id), agent, within, signal)
    return ofNamed.length > 0 ? ofNamed : results
  }

  return {
    search,
    lookUp,

    /**
     * Returns passages that might answer a question, best first, within this number of characters; none if
     * nothing fits. Passages of `files`, found in the documents of the conversation, come first.
     */
    async passages(
      agent: AgentHandle,
      question: string,
      characters: number,
      signal: AbortSignal,
      files: readonly SearchedPassage[] = [],
    ): Promise<FoundPassage[]> {
      const filePassages = choosePassages(files, characters)
      const rest = characters - filePassages.reduce((sum, { content }) => sum + content.length, 0)
      const query = { query: question, limit: automaticResults, min_score: usefulScore }
      const results = await lookUp(agent, query, signal)
      return [...filePassages, ...choosePassages(results, rest)].map(toPassage)
    },
  }
}

export function citedOf({ id, source_id, metadata }: SearchResult | SearchedPassage): CitedPassage {
  const { duplicates: _, ...place }: SearchResult['metadata'] = metadata
  return { id, source_id, ...place }
}

function toPassage(result: SearchedPassage): FoundPassage {
  const { source_name, page, section, url } = result.metadata
  return {
    source: source_name,
    ...(page === null ? {} : { page }),
    ...(section === null ? {} : { section }),
    ...(url !== undefined && { url }),
    score: Math.round(result.score * 1000) / 1000,
    text: result.content,
    cited: citedOf(result),
  }
}

export type KnowledgeService = ReturnType<typeof createKnowledgeService>
