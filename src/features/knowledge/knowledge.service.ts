import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { Passage } from '#models/language-model/passages.ts'
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

/** How many results the passages for a question are chosen from, and how good each must be. */
const automaticResults = 24
const usefulScore = 0.2

interface Dependencies {
  index: SearchIndex
  /** The model with this name, as the agent can use it; throws if the agent can't. */
  embeddingNamed(agentId: string, name: string): Promise<EmbeddingModel>
  changes: Pick<EmbeddingChanges, 'follow'>
  log: Log
}

/** Searches an agent's sources. */
export function createKnowledgeService({ index, embeddingNamed, changes, log }: Dependencies) {
  const prepare = createPrepareQuery({ embeddingNamed, changes, log })

  async function searchShown(
    agent: AgentHandle,
    query: SearchQuery,
    signal: AbortSignal,
  ): Promise<SearchResult[]> {
    const shown = await shownEmbeddings(agent.db, query.source_id)
    // Most agents have no sources at first, and must not wait for a thread to find that out.
    if (shown.length === 0) return []
    return await index.search(agent.path, await prepare(agent, query, shown, signal), signal)
  }

  async function search(
    agent: AgentHandle,
    query: SearchQuery,
    signal: AbortSignal = agent.signal,
  ): Promise<SearchResult[]> {
    for (const id of new Set(query.source_id)) if (!(await isSource(agent.db, id))) throw notFound('Source')
    return await searchShown(agent, query, signal)
  }

  /** The same, but only in the sources that the query names, if these have something that fits. */
  async function lookUp(
    agent: AgentHandle,
    query: SearchQuery,
    signal: AbortSignal,
  ): Promise<SearchResult[]> {
    const [named, results] = await Promise.all([
      findNamedSources(agent.db, query.query),
      searchShown(agent, query, signal),
    ])
    if (named === undefined) return results
    const { sourceIds: source_id, rest } = named
    const within = { ...query, query: rest, source_id, min_score: usefulScore }
    const ofNamed = await searchShown(agent, within, signal)
    return ofNamed.length > 0 ? ofNamed : results
  }

  return {
    search,
    lookUp,

    /** Passages that may answer a question, best first, with at most this many characters; none if nothing fits. */
    async passages(
      agent: AgentHandle,
      question: string,
      characters: number,
      signal: AbortSignal,
    ): Promise<Passage[]> {
      const results = await lookUp(
        agent,
        { query: question, limit: automaticResults, min_score: usefulScore },
        signal,
      )
      return choosePassages(results, characters).map(toPassage)
    },
  }
}

function toPassage({ content, score, metadata: { source_name, page, section, url } }: SearchResult): Passage {
  return {
    source: source_name,
    ...(page === null ? {} : { page }),
    ...(section === null ? {} : { section }),
    ...(url !== undefined && { url }),
    score: Math.round(score * 1000) / 1000,
    text: content,
  }
}

export type KnowledgeService = ReturnType<typeof createKnowledgeService>
