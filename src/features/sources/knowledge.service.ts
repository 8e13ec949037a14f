import type { EmbeddingModel } from '#models/embeddings.ts'
import type { Passage } from '#models/passages.ts'
import { AppError, notFound } from '#platform/errors.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { Ingest } from './parsing/ingest.ts'
import type { SearchIndex } from './search/search-index.ts'
import { findSource, hasChunks } from './sources.repository.ts'
import type { SearchQuery, SearchResult } from './sources.schema.ts'

const defaultResults = 10
/** Passages that a question gets unasked, and how good each must be to be of use. */
const automaticPassages = 6
const usefulScore = 0.2

interface Needs {
  index: SearchIndex
  embeddingOf(agentId: string): Promise<EmbeddingModel>
  ingest: Ingest
}

/** What an agent knows from its sources, and what it can read elsewhere. */
export function createKnowledge({ index, embeddingOf, ingest }: Needs) {
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
    const model = await embeddingOf(agent.agentId)
    const [queryVector] =
      model.provider === 'builtin' ? [] : await model.embed([query.query], { signal, purpose: 'query' })
    return index.search(
      {
        databasePath: agent.path,
        query: query.query,
        limit: query.limit ?? defaultResults,
        sourceId: source_id,
        minScore: query.min_score,
        embedding: `${model.provider}/${model.id}`,
        queryVector,
      },
      signal,
    )
  }

  return {
    search,

    /** Passages that may answer a question, the best first; none where nothing fits. */
    async passages(agent: AgentHandle, question: string, signal: AbortSignal): Promise<Passage[]> {
      const results = await search(
        agent,
        { query: question, limit: automaticPassages, min_score: usefulScore },
        signal,
      )
      return results.map(({ content, metadata: { source_name, page, section } }) => ({
        source: source_name,
        ...(page === null ? {} : { page }),
        ...(section === null ? {} : { section }),
        text: content,
      }))
    },

    async pageToMarkdown(page: { html: string; url: string }, signal: AbortSignal) {
      const read = await ingest.page(page, signal)
      if (read === undefined)
        throw new AppError('OUTBOUND_FAILED', 'This page takes too much time or memory to read.')
      return read
    },
  }
}

export type Knowledge = ReturnType<typeof createKnowledge>
