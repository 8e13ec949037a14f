import { AppError, invalid } from '#platform/errors.ts'
import {
  type AgentChoice,
  type EmbeddingProvider,
  embeddingProviders,
  type ModelConfiguration,
} from '../choice/model-configuration.ts'
import { chooseOne, modelIdForm, unknownModel } from '../choice/model-refusals.ts'
import type { Endpoint } from '../providers/provider.ts'
import type { Timing } from '../transport/call-with-retry.ts'
import { builtinEmbedding } from './builtin-embedding.ts'
import {
  defaultEmbeddingModelOf,
  type EmbeddingModel,
  type RemoteEmbeddingProvider,
  remoteEmbeddingModel,
  type TextEmbeddingModel,
} from './embeddings.ts'
import type { LocalEmbeddings } from './local/local-embeddings.ts'

interface Dependencies {
  configuration: ModelConfiguration
  /** Absent if the operator has no local model. */
  local: LocalEmbeddings | undefined
  /** Returns the endpoint. Throws MODEL_NOT_CONFIGURED for a provider without credentials. */
  endpointFor(provider: RemoteEmbeddingProvider, agent: AgentChoice): Endpoint
  timing: Timing | undefined
}

/** Chooses the embedding model by the settings of agent and platform; the contract is in `models.ts`. */
export function createEmbeddingChoice({ configuration, local, endpointFor, timing }: Dependencies) {
  /** Returns the local model. An agent cannot choose which: settings must not name the machine's folders. */
  async function localModel({ settings: { embedding_model } }: AgentChoice): Promise<TextEmbeddingModel> {
    if (local === undefined)
      throw new AppError(
        'MODEL_NOT_CONFIGURED',
        'There is no local embedding model: set EMBEDDING_PROVIDER to local, and EMBEDDING_MODEL to its folder, on the server.',
      )
    if (embedding_model !== undefined)
      throw invalid(
        'embedding_model',
        "cannot be chosen with the local provider, whose model is the server's: set it to null",
      )
    return await local.model()
  }

  async function remoteModel(provider: RemoteEmbeddingProvider, id: string, agent: AgentChoice) {
    const endpoint = endpointFor(provider, agent)
    if (!modelIdForm.test(id)) throw unknownModel(provider)
    return await remoteEmbeddingModel(provider, id, endpoint, timing)
  }

  return {
    async embedding(agent: AgentChoice): Promise<EmbeddingModel> {
      const { embedding_provider, embedding_model } = agent.settings
      const provider = embeddingProvider(embedding_provider ?? configuration.embeddingProvider)
      if (provider === 'builtin') return { provider, id: builtinEmbedding.id }
      if (provider === 'local') return await localModel(agent)
      const platform = embedding_provider === undefined || provider === configuration.embeddingProvider
      const id = embedding_model ?? (platform ? configuration.embeddingModel : undefined)
      const chosen = id ?? defaultEmbeddingModelOf(provider)
      if (chosen !== undefined) return await remoteModel(provider, chosen, agent)
      // Missing credentials are reported first.
      endpointFor(provider, agent)
      throw chooseOne(provider, 'embedding_model', 'EMBEDDING_MODEL')
    },

    async embeddingNamed(
      agent: AgentChoice,
      { provider: name, id }: { provider: string; id: string },
    ): Promise<EmbeddingModel> {
      const provider = embeddingProvider(name)
      if (provider === 'builtin') return { provider, id }
      if (provider !== 'local') return await remoteModel(provider, id, agent)
      const model = await local?.model()
      if (model?.id === id) return model
      throw new AppError(
        'MODEL_NOT_CONFIGURED',
        'The local model that has embedded this is not there any more.',
      )
    },
  }
}

function embeddingProvider(name: string): EmbeddingProvider {
  const provider = embeddingProviders.find(known => known === name)
  if (provider === undefined)
    throw invalid('embedding_provider', `must be one of ${embeddingProviders.join(', ')}`)
  return provider
}
