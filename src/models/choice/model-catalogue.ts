/**
 * Facts about the providers' models that need no request. Ids are those named by the installed provider
 * packages; context windows are the providers' published figures (question and answer together, in tokens).
 */
import type { ListedModel, ModelDescriptor, Provider, RemoteProvider } from '../providers/provider.ts'

/** The assumed window of a model whose window is unknown. */
export const unknownContextWindow = 32_768

const million = 1_000_000
const mebi = 1_048_576

/** Id, display name, and ability to call tools (defaults to true), best choice for most people first. */
const wellKnown = {
  openai: [
    ['gpt-5.4-mini', 'GPT-5.4 mini'],
    ['gpt-6.1-sol', 'GPT-6.1 Sol'],
    ['gpt-6.1-terra', 'GPT-6.1 Terra'],
    ['gpt-6-astra', 'GPT-6 Astra'],
    ['gpt-6-sol', 'GPT-6 Sol'],
    ['gpt-6-luna', 'GPT-6 Luna'],
    ['gpt-5.6-sol', 'GPT-5.6 Sol'],
    ['gpt-5.6-terra', 'GPT-5.6 Terra'],
    ['gpt-5.6-luna', 'GPT-5.6 Luna'],
    ['gpt-5.5', 'GPT-5.5'],
    ['gpt-5.4', 'GPT-5.4'],
    ['gpt-5.4-nano', 'GPT-5.4 nano'],
    ['gpt-5.2', 'GPT-5.2'],
    ['gpt-5.1', 'GPT-5.1'],
    ['gpt-5', 'GPT-5'],
    ['gpt-5-mini', 'GPT-5 mini'],
    ['gpt-5-nano', 'GPT-5 nano'],
    ['gpt-4.1', 'GPT-4.1'],
    ['gpt-4.1-mini', 'GPT-4.1 mini'],
    ['gpt-4.1-nano', 'GPT-4.1 nano'],
    ['gpt-4o', 'GPT-4o'],
    ['gpt-4o-mini', 'GPT-4o mini'],
  ],
  anthropic: [
    ['claude-sonnet-5-5', 'Claude Sonnet 5.5'],
    ['claude-opus-5-5', 'Claude Opus 5.5'],
    ['claude-haiku-5-5', 'Claude Haiku 5.5'],
    ['claude-fable-5-1', 'Claude Fable 5.1'],
    ['claude-opus-5', 'Claude Opus 5'],
    ['claude-sonnet-5', 'Claude Sonnet 5'],
    ['claude-opus-4-8', 'Claude Opus 4.8'],
    ['claude-opus-4-6', 'Claude Opus 4.6'],
    ['claude-sonnet-4-6', 'Claude Sonnet 4.6'],
    ['claude-opus-4-5', 'Claude Opus 4.5'],
    ['claude-sonnet-4-5', 'Claude Sonnet 4.5'],
    ['claude-haiku-4-5', 'Claude Haiku 4.5'],
  ],
  google: [
    ['gemini-3.8-flash', 'Gemini 3.8 Flash'],
    ['gemini-3.1-pro-preview', 'Gemini 3.1 Pro'],
    ['gemini-3.7-flash', 'Gemini 3.7 Flash'],
    ['gemini-3.5-flash', 'Gemini 3.5 Flash'],
    ['gemini-3.5-flash-lite', 'Gemini 3.5 Flash-Lite'],
    ['gemini-2.5-pro', 'Gemini 2.5 Pro'],
    ['gemini-2.5-flash', 'Gemini 2.5 Flash'],
    ['gemini-2.5-flash-lite', 'Gemini 2.5 Flash-Lite'],
  ],
  'openai-compatible': [],
} satisfies Record<RemoteProvider, [id: string, name: string][]>

/** Windows by prefix of the id; the first match counts, so longer prefixes come first. */
const families: Record<Provider, [beginning: string, tokens: number][]> = {
  openai: [
    ['gpt-6', 1_050_000],
    ['gpt-5.6', 1_050_000],
    ['gpt-5.5', 1_050_000],
    ['gpt-5.4-mini', 400_000],
    ['gpt-5.4-nano', 400_000],
    ['gpt-5.4', 1_050_000],
    ['gpt-5.3-chat', 128_000],
    ['gpt-5.2-chat', 128_000],
    ['gpt-5.1-chat', 128_000],
    ['gpt-5-chat', 128_000],
    ['gpt-5', 400_000],
    ['gpt-4.1', 1_047_576],
    ['gpt-4o', 128_000],
    ['chatgpt-4o', 128_000],
    ['gpt-4-turbo', 128_000],
    ['gpt-4-32k', 32_768],
    ['gpt-4', 8_192],
    ['gpt-3.5-turbo', 16_385],
    ['o1', 200_000],
    ['o3', 200_000],
    ['o4-mini', 200_000],
  ],
  anthropic: [
    ['claude-fable-5', million],
    ['claude-opus-5', million],
    ['claude-sonnet-5', million],
    ['claude-haiku-5-5', million],
    ['claude-opus-4-8', million],
    ['claude-opus-4-7', million],
    ['claude-opus-4-6', million],
    ['claude-sonnet-4-6', million],
    ['claude-opus-4', 200_000],
    ['claude-sonnet-4', 200_000],
    ['claude-haiku-4', 200_000],
    ['claude-3', 200_000],
  ],
  google: [
    ['gemini-3', mebi],
    ['gemini-2.5', mebi],
    ['gemini-2.0', mebi],
    ['gemini-flash', mebi],
    ['gemini-pro-latest', mebi],
    ['gemma-3', 131_072],
  ],
  'openai-compatible': [],
  builtin: [['builtin', unknownContextWindow]],
}

/** Models that answer but call no tools. */
const withoutTools = /^(gpt-5-chat|chatgpt-|gemma-3)/

/** Returns the window in tokens, undefined if unknown; fine-tuned models have their base model's. */
export function contextWindowOf(provider: Provider, modelId: string): number | undefined {
  const base = modelId.replace(/^ft:/, '')
  return families[provider].find(([beginning]) => base.startsWith(beginning))?.[1]
}

function callsTools(modelId: string): boolean {
  return !withoutTools.test(modelId)
}

export function catalogueOf(provider: RemoteProvider): ModelDescriptor[] {
  return wellKnown[provider].map(([id, name]) => describeModel(provider, { id, name }))
}

/** Returns the default model of a provider; undefined where only the server knows its models. */
export function defaultModelOf(provider: Provider): string | undefined {
  return provider === 'builtin' ? builtinModel.id : wellKnown[provider][0]?.[0]
}

/** Models by their ability to see images; the first match counts. */
const sight: Record<RemoteProvider, [beginning: RegExp, sees: boolean][]> = {
  openai: [
    [/^(o1-mini|o1-preview|o3-mini|gpt-3\.5|gpt-4($|-32k|-0\d|-1106|-turbo-preview))/, false],
    [/^(gpt-4|gpt-5|gpt-6|chatgpt-4o|o1|o3|o4-mini)/, true],
  ],
  anthropic: [[/^claude-(3|fable|opus|sonnet|haiku)/, true]],
  google: [
    [/^gemma-3-1b|^gemma-3n/, false],
    [/^(gemini|gemma-3)/, true],
  ],
  'openai-compatible': [],
}

function seesImages(provider: RemoteProvider, modelId: string): boolean | undefined {
  const base = modelId.replace(/^ft:/, '')
  return sight[provider].find(([beginning]) => beginning.test(base))?.[1]
}

/** Returns a descriptor from the provider's list, completed from the catalogue. */
export function describeModel(provider: RemoteProvider, listed: ListedModel): ModelDescriptor {
  const { id, supportsImages = seesImages(provider, id) } = listed
  return {
    id,
    name: listed.name ?? wellKnown[provider].find(([known]) => known === id)?.[1] ?? id,
    provider,
    contextWindow: listed.contextWindow ?? contextWindowOf(provider, id) ?? unknownContextWindow,
    supportsTools: listed.supportsTools ?? callsTools(id),
    ...(supportsImages !== undefined && { supportsImages }),
    supportsStreaming: true,
  }
}

export const builtinModel: ModelDescriptor = {
  id: 'builtin',
  name: 'Built-in retriever (no language model)',
  provider: 'builtin',
  contextWindow: unknownContextWindow,
  supportsTools: true,
  supportsStreaming: true,
}
