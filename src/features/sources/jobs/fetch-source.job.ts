import type { SourceEvents } from '#features/knowledge/knowledge.events.ts'
import type { KnowledgeFeature } from '#features/knowledge/knowledge.feature.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import { type Clock, timestamp } from '#platform/clock.ts'
import type { JobContext, JobHandler, Transact } from '#platform/jobs/jobs.ts'
import { presentable } from '#platform/jobs/presentable.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { contentHash } from '../fetching/content-hash.ts'
import type { createContentIndexer } from '../fetching/index-content.ts'
import { findFetchState } from '../fetching/last-copy.ts'
import type { createObtain } from '../fetching/obtain.ts'
import { updateSource } from '../sources.repository.ts'
import type { FetchedConfig, Source } from '../sources.schema.ts'
import { sourceOfJob, sourceToWorkOn } from './source-jobs.ts'
import { createOutcomes } from './source-outcomes.ts'

/** The share of fetching in the progress. */
const progressFetched = 0.1

interface Dependencies {
  obtain: ReturnType<typeof createObtain>
  indexContent: ReturnType<typeof createContentIndexer>
  embeddingOf(agentId: string): Promise<EmbeddingModel>
  changes: Pick<KnowledgeFeature['changes'], 'follow'>
  transact: Transact<SourceEvents>
  clock: Clock
}

type FetchedSource = Source & { config: FetchedConfig }

/**
 * Fetches a source of type `database` or `api`, and chunks, embeds and indexes new content. A run after an
 * interrupted one fetches again, and continues its draft if the content is the same.
 */
export function createFetchSourceJob(dependencies: Dependencies): JobHandler<AgentHandle> {
  const { finish, fail } = createOutcomes(dependencies)

  async function process(context: JobContext<AgentHandle>, source: FetchedSource): Promise<void> {
    const { agent, signal } = context
    const model = await dependencies.embeddingOf(agent.agentId)
    const state = await findFetchState(agent.db, source.id)
    const obtained = await dependencies.obtain({ agent, config: source.config, state, signal })
    if (obtained.kind === 'failed') return await fail(agent, source, obtained.reason)
    const config = { ...source.config, fetched_at: timestamp(dependencies.clock) }
    const unchanged = { chunks: source.chunks ?? 0, config }
    if (obtained.kind === 'unchanged') return await finish(agent, source, unchanged)
    await updateSource(agent.db, source.id, { progress: progressFetched })
    const { content } = obtained
    const hash = await contentHash(content.fetched)
    const last_copy = { hash, validators: content.validators ?? null }
    if (state.lastCopy?.hash === hash) return await finish(agent, source, { ...unchanged, last_copy })
    const outcome = await dependencies.indexContent({ context, source, content, hash, model })
    if (typeof outcome === 'string') return await fail(agent, source, outcome)
    await finish(agent, source, { chunks: outcome, config, last_copy })
  }

  return {
    lane: 'documents',
    async run(context) {
      const source = await sourceToWorkOn(context)
      if (source === undefined || !isFetched(source)) return
      await process(context, source).catch(error => {
        throw presentable(error, context.signal)
      })
      // The embedding might have changed during this run, or after the indexing of unchanged content.
      await dependencies.changes.follow(context.agent)
    },
    async onFailed(context, error) {
      const source = await sourceOfJob(context)
      context.log.error({ sourceId: source?.id, error }, 'a source could not be fetched')
      if (source !== undefined)
        await fail(context.agent, source, `This source could not be fetched: ${error}`)
    },
  }
}

function isFetched(source: Source): source is FetchedSource {
  return source.type === 'database' || source.type === 'api'
}
