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
/** Within this many milliseconds only one search of an agent checks whether its sources need another embedding. */
const followInterval = 1_000
/** Characters of a query that are embedded: below every model's limit, and enough to say what is meant. */
const maxEmbeddedLength = 8_000

interface Dependencies {
  /** The model with this name, as the agent can use it; throws if the agent can't. */
  embeddingNamed(agentId: string, name: string): Promise<EmbeddingModel>
  changes: Pick<EmbeddingChanges, 'follow'>
  log: Log
}

/** Prepares a query for search threads, which can reach no provider. */
export function createPrepareQuery({ embeddingNamed, changes, log }: Dependencies) {
  /** The query's vector by this embedding; undefined if that is the built-in one or not available. */
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

  /** The query by each embedding that the chunks in question have: usually one, several while they change. */
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

  /** Not for each search: it takes as many reads as finding out what to search by. */
  const followed = new LRUCache<string, true>({ max: 1_000, ttl: followInterval })
  async function follow(agent: AgentHandle, names: readonly string[]): Promise<void> {
    const key = [agent.agentId, ...names].join(' ')
    if (followed.has(key)) return
    followed.set(key, true)
    await changes.follow(agent, names)
  }

  /** @param names the embeddings that the chunks in question have. */
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
