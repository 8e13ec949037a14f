import type { SettingsEvents } from '#features/agents/settings.events.ts'
import type { SettingsService } from '#features/agents/settings.service.ts'
import type { Feature, Subscriptions } from '#features/feature.ts'
import type { Infrastructure } from '#infrastructure/infrastructure.ts'
import { namedEmbedding } from '#models/embeddings/embedding-name.ts'
import type { EmbeddingModel } from '#models/embeddings/embeddings.ts'
import type { Tool } from '#models/tools/tool.ts'
import type { ToolTurn } from '#models/tools/tool-turn.ts'
import type { AgentHandle } from '#storage/agent-databases.ts'
import { type Attached, createAttached } from './attached.service.ts'
import { createEmbedSourceJob } from './embedding/embed-source.job.ts'
import {
  concernsEmbedding,
  createEmbeddingChanges,
  type EmbeddingChanges,
  embedJobName,
} from './embedding/embedding-changes.ts'
import { followPlatformEmbedding } from './embedding/platform-embedding.ts'
import { createNewVectors } from './indexing/new-vectors.ts'
import { createIndexing, type IndexingService } from './indexing.service.ts'
import { sourceEvents } from './knowledge.events.ts'
import { registerKnowledgeRoutes } from './knowledge.routes.ts'
import { createKnowledgeService, type KnowledgeService } from './knowledge.service.ts'
import { createSearchIndex } from './search/search-index.ts'
import { searchKnowledge } from './search-knowledge.ts'
import { listDocuments } from './source-rows.repository.ts'

/** Max listed documents: names of max length fit whole into a model's view. */
const maxListedDocuments = 40

export interface KnowledgeFeature extends Feature {
  knowledge: KnowledgeService
  /** Searches the agent's own documents. */
  searchTool(agent: AgentHandle, turn?: ToolTurn): Tool
  indexing: IndexingService
  /** Reads and searches documents that belong to no source. */
  attached: Attached
  /** Updates the vectors of an agent's documents when its embedding model changes. */
  changes: EmbeddingChanges
  /** Returns the model that embeds the agent's documents. */
  embeddingOf(agentId: string): Promise<EmbeddingModel>
}

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
  const indexing = createIndexing(documentWorkers)
  const index = createSearchIndex(searchWorkers)
  const knowledge = createKnowledgeService({ index, embeddingNamed, changes, isExclusive, log })
  const vectors = createNewVectors(documentWorkers)
  const searchTool = (agent: AgentHandle, turn?: ToolTurn) =>
    searchKnowledge({
      lookUp: (query, limit, signal) => knowledge.lookUp(agent, { query, limit }, signal),
      documents: () => listDocuments(agent.db, maxListedDocuments),
      turn,
    })
  const ending = new AbortController()
  let followed = Promise.resolve()

  return {
    knowledge,
    searchTool,
    indexing,
    attached: createAttached(infrastructure),
    changes,
    embeddingOf,
    routes: app => registerKnowledgeRoutes(app, knowledge),
    jobs: {
      [embedJobName]: createEmbedSourceJob({ indexing, embeddingOf, vectors, changes, transact, clock }),
    },
    events: sourceEvents,
    subscriptions: {
      'settings.changed': async ({ agentId, names }) => {
        if (!names.some(concernsEmbedding)) return
        // The settings are stored in any case; the next search checks again.
        await agentDatabases
          .use(agentId, agent => changes.followAgain(agent))
          .catch(error => log.warn({ err: error, agentId }, 'the sources were not embedded by the new model'))
      },
    } satisfies Subscriptions<SettingsEvents>,
    tools: (agent, _taken, turn) => [searchTool(agent, turn)],
    start() {
      const platformEmbedding = () => models.embedding({ settings: {}, credentials: {} })
      const dependencies = { platform, agentDatabases, platformEmbedding, changes, log }
      followed = followPlatformEmbedding(dependencies, ending.signal)
      return followed
    },
    async stop() {
      ending.abort()
      await followed
    },
  }
}
