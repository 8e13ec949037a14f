import type { SettingsEvents } from '#features/agents/settings.events.ts'
import type { SettingsService } from '#features/agents/settings.service.ts'
import type { Feature, Subscriptions } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { Tool } from '#models/tools/tool.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import type { EmbeddingChanges } from './embedding/embedding-changes.ts'
import { concernsEmbedding, createEmbeddingChanges } from './embedding/embedding-changes.ts'
import { followPlatformEmbedding } from './embedding/platform-embedding.ts'
import { createNewVectors } from './indexing/new-vectors.ts'
import { namedEmbedding } from './indexing/provider-space.ts'
import { createEmbedSourceJob } from './jobs/embed-source.job.ts'
import { embedJobName } from './jobs/source-jobs.ts'
import type { KnowledgeService } from './knowledge.service.ts'
import { createKnowledgeService, listDocuments } from './knowledge.service.ts'
import type { SearchIndex } from './search/search-index.ts'
import { createSearchIndex } from './search/search-index.ts'
import { searchKnowledge } from './search-knowledge.ts'

export interface KnowledgeFeature extends Feature {
  knowledge: KnowledgeService
  /** Searches the agent's own documents. */
  searchTool(agent: AgentHandle): Tool
  index: SearchIndex
  /** Keeps the vectors of an agent's documents up to date when its embedding model changes. */
  changes: EmbeddingChanges
  /** The model that embeds the agent's documents. */
  embeddingOf(agentId: string): Promise<EmbeddingModel>
}

/** The searchable passages of an agent. */
export function createKnowledge(
  infrastructure: Infrastructure,
  { settings }: { settings: SettingsService },
): KnowledgeFeature {
  const { agentDatabases, documentWorkers, searchWorkers, platform, transact } = infrastructure
  const { models, isExclusive, clock, log } = infrastructure
  const embeddingOf = async (agentId: string) => models.embedding(await settings.profileOf(agentId))
  const embeddingNamed = async (agentId: string, name: string) =>
    models.embeddingNamed(await settings.profileOf(agentId), namedEmbedding(name))

  const changes = createEmbeddingChanges({ embeddingOf, transact, clock, log })
  const index = createSearchIndex({ writers: documentWorkers, readers: searchWorkers })
  const knowledge = createKnowledgeService({ index, embeddingNamed, changes, isExclusive, log })
  const vectors = createNewVectors(documentWorkers)
  const searchTool = (agent: AgentHandle) =>
    searchKnowledge({
      lookUp: (query, limit, signal) => knowledge.lookUp(agent, { query, limit }, signal),
      documents: () => listDocuments(agent),
    })
  const ending = new AbortController()
  let followed = Promise.resolve()

  return {
    knowledge,
    searchTool,
    index,
    changes,
    embeddingOf,
    jobs: { [embedJobName]: createEmbedSourceJob({ embeddingOf, vectors, changes, transact, clock }) },
    subscriptions: {
      'settings.changed': async ({ agentId, names }) => {
        if (!names.some(concernsEmbedding)) return
        // The settings are stored in any case; the next search looks again.
        await agentDatabases
          .use(agentId, agent => changes.followAgain(agent))
          .catch(error => log.warn({ err: error, agentId }, 'the sources were not embedded by the new model'))
      },
    } satisfies Subscriptions<SettingsEvents>,
    tools: agent => [searchTool(agent)],
    start() {
      const platformEmbedding = () => models.embedding({ settings: {}, credentials: {} })
      const needs = { platform, agentDatabases, platformEmbedding, changes, log }
      followed = followPlatformEmbedding(needs, ending.signal)
      return followed
    },
    async stop() {
      ending.abort()
      await followed
    },
  }
}
