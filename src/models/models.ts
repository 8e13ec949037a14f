import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/logging/log.ts'
import { builtinLanguageModel } from './builtin/builtin-model.ts'
import {
  builtinModel,
  contextWindowOf,
  defaultModelOf,
  unknownContextWindow,
} from './choice/model-catalogue.ts'
import { chooseModel, modelInForce } from './choice/model-choice.ts'
import type { AgentChoice, ModelConfiguration } from './choice/model-configuration.ts'
import { createModelLists, type ModelLists } from './choice/model-list.ts'
import { modelIdForm, noModelListed, unknownModel } from './choice/model-refusals.ts'
import { createEmbeddingChoice } from './embeddings/embedding-choice.ts'
import type { EmbeddingModel } from './embeddings/embeddings.ts'
import type { LocalEmbeddings } from './embeddings/local/local-embeddings.ts'
import type { LanguageModel } from './language-model/language-model.ts'
import type { Endpoint, ModelDescriptor, Provider, RemoteProvider } from './providers/provider.ts'
import {
  type Access,
  accessTo,
  endpointOf,
  notConfigured,
  usableProviders,
  type WaysOut,
  waysOut,
} from './providers/provider-access.ts'
import { remoteLanguageModel } from './providers/providers.ts'
import type { Timing } from './transport/call-with-retry.ts'

interface ResolvedModel {
  model: LanguageModel
  /** The model's id at its provider, the same as in `metadata.model` and `message_start`. */
  id: string
  provider: Provider
  /** Whose credentials pay for its calls; undefined for one that costs nothing. */
  paidBy: Access['paidBy'] | undefined
  /** Context window in tokens; 32,768 if unknown. */
  contextWindow: number
}

export interface Models {
  /**
   * Returns the model that answers this message. Throws VALIDATION_ERROR for an unknown provider,
   * MODEL_NOT_CONFIGURED for one without credentials, MODEL_UNKNOWN if the model certainly does not exist
   * (else the provider reports it), and MODEL_ERROR without a chosen model or a list from the provider.
   */
  resolve(question: AgentChoice & { requested?: string | undefined }): Promise<ResolvedModel>
  /**
   * Returns provider and model by the agent's settings. No request is made, so the model is empty if only its
   * server knows its models. Credentials only have to exist.
   */
  inForce(agent: AgentChoice): { provider: Provider; model: string }
  /** Returns foreseeable problems that would keep the model from answering: the setting, and a sentence. */
  problems(agent: AgentChoice): Promise<{ field: string; issue: string }[]>
  /** Returns the models that this agent can chat with; `builtin` is always included. */
  list(agent: AgentChoice): Promise<ModelDescriptor[]>
  /** Returns the model that embeds this agent's documents; throws like `resolve`. */
  embedding(agent: AgentChoice): Promise<EmbeddingModel>
  /** Returns this provider's model as the agent can use it now, to search its vectors; throws alike. */
  embeddingNamed(agent: AgentChoice, named: { provider: string; id: string }): Promise<EmbeddingModel>
}

interface Dependencies {
  configuration: ModelConfiguration
  /** The local model; absent if the operator has none. */
  local?: LocalEmbeddings | undefined
  /** The `fetch` for addresses set by an agent, through the outbound guard. */
  outboundFetch: typeof fetch
  /** The `fetch` for public and operator-set addresses; answers that are read piece by piece bypass it. */
  trustedFetch: typeof fetch
  clock: Clock
  log: Log
  /** Timing of the waits between attempts of an embedding call. */
  timing?: Timing
}

export function createModels({
  configuration,
  local,
  outboundFetch,
  trustedFetch,
  clock,
  log,
  timing,
}: Dependencies): Models {
  const lists = createModelLists({ clock, log })
  const ways = waysOut({ trusted: trustedFetch, outbound: outboundFetch })

  function endpointFor(provider: RemoteProvider, agent: AgentChoice) {
    const access = accessTo(provider, agent, configuration)
    if (access === undefined) throw notConfigured(provider)
    return endpointOf(access, ways)
  }

  async function modelsOf(provider: Provider, agent: AgentChoice): Promise<ModelDescriptor[]> {
    if (provider === 'builtin') return [builtinModel]
    return await lists.modelsOf(provider, endpointFor(provider, agent))
  }

  async function windowOf(provider: RemoteProvider, id: string, endpoint: Endpoint): Promise<number> {
    const known = contextWindowOf(provider, id)
    if (known !== undefined) return known
    const listed = await lists.modelsOf(provider, endpoint)
    return listed.find(model => model.id === id)?.contextWindow ?? unknownContextWindow
  }

  /** Returns the agent's setting of the window, for its own model: a message can request another one. */
  function windowSetFor(
    agent: AgentChoice,
    { provider, id, requested }: { provider: Provider; id: string; requested: string | undefined },
  ): number | undefined {
    const choice = modelInForce(agent, configuration)
    const isOwn = requested === undefined || (choice.provider === provider && choice.modelId === id)
    return isOwn && provider !== 'builtin' ? agent.settings.llm_context_window : undefined
  }

  async function unaskedModel(provider: RemoteProvider, endpoint: Endpoint): Promise<string> {
    const id = defaultModelOf(provider) ?? (await lists.firstOf(provider, endpoint))
    if (id === undefined) throw noModelListed(provider)
    return id
  }

  const embeddings = createEmbeddingChoice({ configuration, local, endpointFor, timing })

  return {
    async resolve({ requested, ...agent }) {
      const choice = await chooseModel({
        agent,
        configuration,
        requested,
        lists: async (provider, id) => (await modelsOf(provider, agent)).some(model => model.id === id),
      })
      if (choice.modelId !== undefined && !modelIdForm.test(choice.modelId))
        throw unknownModel(choice.provider)
      if (choice.provider === 'builtin') return resolveBuiltin(choice.modelId)
      const { provider } = choice
      const endpoint = endpointFor(provider, agent)
      const id = choice.modelId ?? (await unaskedModel(provider, endpoint))
      const [model, contextWindow] = await Promise.all([
        remoteLanguageModel(provider, id, endpoint),
        windowSetFor(agent, { provider, id, requested }) ?? windowOf(provider, id, endpoint),
      ])
      return { model, id, provider, paidBy: endpoint.paidBy, contextWindow }
    },

    inForce(agent) {
      const { provider, modelId = '' } = modelInForce(agent, configuration)
      return { provider, model: modelId }
    },

    problems: agent => problemsOf(agent, { configuration, lists, ways }),

    async list(agent) {
      const usable = usableProviders(agent, configuration)
      const listed = (await Promise.all(usable.map(provider => modelsOf(provider, agent)))).flat()
      return listed.map(model => ({
        ...model,
        contextWindow: windowSetFor(agent, { ...model, requested: model.id }) ?? model.contextWindow,
      }))
    },

    ...embeddings,
  }
}

async function problemsOf(
  agent: AgentChoice,
  { configuration, lists, ways }: { configuration: ModelConfiguration; lists: ModelLists; ways: WaysOut },
): Promise<{ field: string; issue: string }[]> {
  const { provider, modelId } = modelInForce(agent, configuration)
  const unknown = { field: 'llm_model', issue: unknownModel(provider, modelId).message }
  if (provider === 'builtin') return modelId === builtinModel.id ? [] : [unknown]
  const access = accessTo(provider, agent, configuration)
  if (access === undefined) return [{ field: 'llm_provider', issue: notConfigured(provider).message }]
  // Only a chosen model is worth a request.
  if (agent.settings.llm_model === undefined || modelId === undefined) return []
  return (await lists.lists(provider, endpointOf(access, ways), modelId)) === false ? [unknown] : []
}

function resolveBuiltin(modelId = builtinModel.id): ResolvedModel {
  if (modelId !== builtinModel.id) throw unknownModel('builtin', modelId)
  const { id, provider, contextWindow } = builtinModel
  return { model: builtinLanguageModel, id, provider, paidBy: undefined, contextWindow }
}
