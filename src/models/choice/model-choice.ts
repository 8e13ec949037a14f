import { invalid } from '#platform/errors.ts'
import { isProvider, type Provider, providers } from '../providers/provider.ts'
import { usableProviders } from '../providers/provider-access.ts'
import { builtinModel, contextWindowOf, defaultModelOf } from './model-catalogue.ts'
import type { AgentChoice, ModelConfiguration } from './model-configuration.ts'

export interface ModelChoice {
  provider: Provider
  /** The model; undefined for the provider's default. */
  modelId: string | undefined
}

interface Question {
  agent: AgentChoice
  configuration: ModelConfiguration
  /** The model that this message names. */
  requested: string | undefined
  /** True if `chat/models` lists this id for this provider; only called if the id alone is ambiguous. */
  lists(provider: Provider, modelId: string): Promise<boolean>
}

/** Chooses the model and provider: the message's choice, else the agent's, else the operator's. */
export async function chooseModel({
  agent,
  configuration,
  requested,
  lists,
}: Question): Promise<ModelChoice> {
  const home = agentProvider(agent, configuration)
  const wish =
    requested === undefined ? standingWish(agent, configuration, home) : { id: requested, of: undefined }
  if (wish.id === undefined) return { provider: home, modelId: undefined }
  if (wish.of !== undefined) return { provider: wish.of, modelId: wish.id }
  return await chooseById(wish.id, { home, usable: usableProviders(agent, configuration), lists })
}

/** Returns provider and model for messages that name none, as far as known without a request. */
export function modelInForce(agent: AgentChoice, configuration: ModelConfiguration): ModelChoice {
  const home = agentProvider(agent, configuration)
  const { id, of } = standingWish(agent, configuration, home)
  if (id === undefined) return { provider: home, modelId: defaultModelOf(home) }
  const named = of === undefined ? splitId(id) : undefined
  return named ?? { provider: of ?? home, modelId: id }
}

/** Returns the provider of an agent's messages, unless they name another. */
function agentProvider(agent: AgentChoice, configuration: ModelConfiguration): Provider {
  const { llm_provider } = agent.settings
  if (llm_provider === undefined) {
    return configuration.defaultProvider ?? usableProviders(agent, configuration)[0] ?? 'builtin'
  }
  if (!isProvider(llm_provider)) throw invalid('llm_provider', `must be one of ${providers.join(', ')}`)
  return llm_provider
}

/** Returns the configured model; `of` is its provider, if that is configured with it. */
function standingWish(
  { settings: { llm_provider, llm_model } }: AgentChoice,
  { defaultModel, defaultProvider }: ModelConfiguration,
  home: Provider,
): { id: string | undefined; of: Provider | undefined } {
  if (llm_model !== undefined) return { id: llm_model, of: llm_provider === undefined ? undefined : home }
  if (home === defaultProvider) return { id: defaultModel, of: home }
  // The operator's model does not apply to an agent that has chosen another provider.
  return { id: llm_provider === undefined ? defaultModel : undefined, of: undefined }
}

interface Surroundings {
  home: Provider
  usable: Provider[]
  lists: Question['lists']
}

/**
 * Resolves an id of `chat/models`, or `provider/id`; any other id goes to the agent's provider. Servers such
 * as OpenRouter have ids in the form `provider/id`: those belong to the server if it lists them, or if the
 * provider of that name is not configured.
 */
async function chooseById(id: string, { home, usable, lists }: Surroundings): Promise<ModelChoice> {
  const named = splitId(id)
  if (named !== undefined) {
    const foreign = home === 'openai-compatible' && named.provider !== home
    const homesOwn = foreign && (!usable.includes(named.provider) || (await lists(home, id)))
    return homesOwn ? { provider: home, modelId: id } : named
  }
  if (id === builtinModel.id) return { provider: 'builtin', modelId: id }

  const others = usable.filter(provider => provider !== home && provider !== 'builtin')
  if (others.length === 0 || contextWindowOf(home, id) !== undefined || (await lists(home, id))) {
    return { provider: home, modelId: id }
  }
  for (const provider of others) if (await lists(provider, id)) return { provider, modelId: id }
  return { provider: home, modelId: id }
}

/** Splits `provider/id`; undefined for any other id, including other ids with a slash. */
function splitId(id: string): ModelChoice | undefined {
  const slash = id.indexOf('/')
  const provider = id.slice(0, Math.max(slash, 0))
  return isProvider(provider) ? { provider, modelId: id.slice(slash + 1) } : undefined
}
