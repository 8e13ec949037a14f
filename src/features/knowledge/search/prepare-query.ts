import { LRUCache } from 'lru-cache'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import { AppError } from '#platform/errors.ts'
import type { Log } from '#platform/logging/log.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { EmbeddingChanges } from '../embedding/embedding-changes.ts'
import { builtinName, providerSpace } from '../indexing/provider-space.ts'
import type { SearchQuery } from '../knowledge.schema.ts'
import type { ChunkQuery } from './rankings.ts'

const defaultResults = 10
/** Min time between checks of an agent's sources for another embedding by its searches (ms). */
const followInterval = 1_000
/** Max embedded characters of a query: below every model's limit, and enough for its meaning. */
const maxEmbeddedLength = 8_000

interface Dependencies {
  /** Returns the model with this name, as the agent can use it; throws if the agent cannot. */
  embeddingNamed(agentId: string, name: string): Promise<EmbeddingModel>
  changes: Pick<EmbeddingChanges, 'follow'>
  log: Log
}

/** Prepares a query for search threads, which cannot reach a provider. */
export function createPrepareQuery({ embeddingNamed, changes, log }: Dependencies) {
  /** Returns the query's vector by this embedding; undefined if it is built-in or not available. */
  async function embed(agent: AgentHandle, name: string, query: string, signal: AbortSignal) {
    try {
      if (name === builtinName) return undefined
      const model = await embeddingNamed(agent.agentId, name)
      if (model.provider === 'builtin') return undefined
      const [vector] = await model.embed([query], { signal, purpose: 'query' })
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

  /** Embeds the query by each embedding of the chunks in question: one, or several during a change. */
  async function embedAll(agent: AgentHandle, names: readonly string[], query: string, signal: AbortSignal) {
    const text = query.slice(0, maxEmbeddedLength).toWellFormed()
    const queries = await Promise.all(
      names.map(async name => ({ embedding: name, embedded: await embed(agent, name, text, signal) })),
    )
    if (queries.length === 1) return { embedded: queries[0]?.embedded }
    return {
      mixed: queries.filter(({ embedding, embedded }) => embedding === builtinName || embedded !== undefined),
    }
  }

  /** Searches don't repeat the check: it takes as many reads as preparing the search. */
  const followed = new LRUCache<string, true>({ max: 1_000, ttl: followInterval })
  async function follow(agent: AgentHandle, names: readonly string[]): Promise<void> {
    const key = [agent.agentId, ...names].join(' ')
    if (followed.has(key)) return
    followed.set(key, true)
    await changes.follow(agent, names)
  }

  /** @param names the embeddings of the chunks in question. */
  return async (
    agent: AgentHandle,
    { query: text, limit = defaultResults, min_score: minScore, source_id: sourceIds }: SearchQuery,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<ChunkQuery> => {
    const embedded = await embedAll(agent, names, text, signal)
    await follow(agent, names)
    return { text, limit, sourceIds, minScore, ...embedded }
  }
}
