import type { SettingsService } from '#features/agents/settings.service.ts'
import { createEmbeddingChanges } from '#features/sources/embedding/embedding-changes.ts'
import { followPlatformEmbedding } from '#features/sources/embedding/platform-embedding.ts'
import { createNewVectors } from '#features/sources/indexing/new-vectors.ts'
import { namedEmbedding } from '#features/sources/indexing/provider-space.ts'
import { createEmbedSourceJob } from '#features/sources/jobs/embed-source.job.ts'
import { embedJobName } from '#features/sources/jobs/source-jobs.ts'
import { createLocalEmbeddings } from '#models/embeddings/local/local-embeddings.ts'
import type { Models } from '#models/models.ts'
import type { Configuration } from '../config.ts'
import type { Foundation } from './foundation.ts'
import type { Surroundings } from './surroundings.ts'

interface Needs {
  foundation: Foundation
  surroundings: Surroundings
  settings: SettingsService
  models: Models
}

/** The operator's own model, if one is configured; loaded on first use. */
export function localEmbeddings({ models }: Configuration, { embeddingWorkers }: Foundation) {
  const { embeddingProvider, embeddingModel: folder } = models
  if (embeddingProvider !== 'local' || folder === undefined) return undefined
  return createLocalEmbeddings({ workers: embeddingWorkers, folder })
}

/** Settings that decide by which model, if at all, an agent's documents are embedded. */
const concerned = new Set<string>([
  'embedding_provider',
  'embedding_model',
  'llm_base_url',
  'openai_api_key',
  'google_api_key',
  'openai_compatible_api_key',
])

/** The models that embed agents' documents, and what keeps the vectors up to date when the models change. */
export function composeEmbeddings({ foundation, surroundings, settings, models }: Needs) {
  const { agentDatabases, documentWorkers: workers, events, handlers, platform, transact } = foundation
  const { clock, log } = surroundings
  const embeddingOf = async (agentId: string) => models.embedding(await settings.profileOf(agentId))
  const embeddingNamed = async (agentId: string, name: string) =>
    models.embeddingNamed(await settings.profileOf(agentId), namedEmbedding(name))

  const changes = createEmbeddingChanges({ embeddingOf, transact, clock, log })
  const vectors = createNewVectors(workers)
  handlers.set(embedJobName, createEmbedSourceJob({ embeddingOf, vectors, changes, transact, clock }))
  events.on('settings.changed', async ({ agentId, names }) => {
    if (!names.some(name => concerned.has(name))) return
    // The settings are stored in any case; the next search looks again.
    await agentDatabases
      .use(agentId, agent => changes.followAgain(agent))
      .catch(error => log.warn({ err: error, agentId }, 'the sources were not embedded by the new model'))
  })

  const ending = new AbortController()
  let followed: Promise<void> = Promise.resolve()
  return {
    embeddingOf,
    embeddingNamed,
    changes,
    /**
     * To be called when jobs can run. Resolves once every agent's sources have the platform's embedding, or a job to get
     * it.
     */
    start(): Promise<void> {
      const platformEmbedding = () => models.embedding({ settings: {}, credentials: {} })
      const needs = { platform, agentDatabases, platformEmbedding, changes, log }
      followed = followPlatformEmbedding(needs, ending.signal)
      return followed
    },
    async stop(): Promise<void> {
      ending.abort()
      await followed
    },
  }
}

export type Embeddings = ReturnType<typeof composeEmbeddings>
