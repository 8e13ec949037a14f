import type { EmbeddingModel } from '#models/embeddings.ts'
import type { Passage } from '#models/passages.ts'
import { AppError, notFound } from '#platform/errors.ts'
import type { Log } from '#platform/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { choosePassages } from './choose-passages.ts'
import { providerSpace } from './search/provider-space.ts'
import type { SearchIndex } from './search/search-index.ts'
import { findSource, hasChunks } from './sources.repository.ts'
import type { SearchQuery, SearchResult } from './sources.schema.ts'

const defaultResults = 10
/** Results from which passages are chosen that a question gets unasked, and how good each must be to be of use. */
const automaticResults = 24
const usefulScore = 0.2
/** Characters of a query that are embedded: below every model's limit, and more than says what is meant. */
const longestEmbedded = 8_000

interface Needs {
  index: SearchIndex
  embeddingOf(agentId: string): Promise<EmbeddingModel>
  log: Log
}

/** What an agent knows from its sources. */
export function createKnowledge({ index, embeddingOf, log }: Needs) {
  /** The query's vector; undefined where the built-in embedding is used or the provider's can't be had. */
  async function embed(agent: AgentHandle, query: string, signal: AbortSignal) {
    try {
      const model = await embeddingOf(agent.agentId)
      if (model.provider === 'builtin') return undefined
      const text = query.slice(0, longestEmbedded).toWellFormed()
      const [vector] = await model.embed([text], { signal, purpose: 'query' })
      return vector && { space: providerSpace(model, vector), vector }
    } catch (error) {
      if (signal.aborted || !(error instanceof AppError)) throw error
      log.warn(
        { err: error, agentId: agent.agentId },
        'a query was not embedded: it is searched for by its words',
      )
      return undefined
    }
  }

  async function search(
    agent: AgentHandle,
    query: SearchQuery,
    signal: AbortSignal = agent.signal,
  ): Promise<SearchResult[]> {
    const { source_id } = query
    if (source_id !== undefined && (await findSource(agent.db, source_id)) === undefined)
      throw notFound('Source')
    // Most agents have no sources at first, and must not wait for a thread to find that out.
    if (!(await hasChunks(agent.db))) return []
    const { query: text, limit = defaultResults, min_score: minScore } = query
    const embedded = await embed(agent, text, signal)
    return index.search(agent.path, { text, limit, sourceId: source_id, minScore, embedded }, signal)
  }

  return {
    search,

    /** Passages that may answer a question, the best first; none where nothing fits. */
    async passages(agent: AgentHandle, question: string, signal: AbortSignal): Promise<Passage[]> {
      const results = await search(
        agent,
        { query: question, limit: automaticResults, min_score: usefulScore },
        signal,
      )
      return choosePassages(results).map(({ content, metadata: { source_name, page, section, url } }) => ({
        source: source_name,
        ...(page === null ? {} : { page }),
        ...(section === null ? {} : { section }),
        ...(url !== undefined && { url }),
        text: content,
      }))
    },
  }
}

export type Knowledge = ReturnType<typeof createKnowledge>
