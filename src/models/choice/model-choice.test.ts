import { describe, expect, test } from 'vitest'
import type { Provider } from '../providers/provider.ts'
import { chooseModel, modelInForce } from './model-choice.ts'
import type { AgentChoice, ModelConfiguration } from './model-configuration.ts'

const keys = { openai_api_key: 'k', anthropic_api_key: 'k' }
const router = { llm_provider: 'openai-compatible', llm_base_url: 'https://router.example/v1' }

/** What the providers' lists hold in these tests. */
const lists: Partial<Record<Provider, string[]>> = {
  openai: ['gpt-5.4', 'shared'],
  anthropic: ['claude-opus-5', 'shared'],
  'openai-compatible': ['llama3', 'openai/gpt-5.4'],
}

async function choose(
  requested: string | undefined,
  settings: AgentChoice['settings'] = {},
  configuration: Partial<ModelConfiguration> = {},
  credentials: Record<string, string> = keys,
) {
  const asked: string[] = []
  const choice = await chooseModel({
    agent: { settings, credentials },
    configuration: { embeddingProvider: 'builtin', ...configuration },
    requested,
    lists: async (provider, id) => {
      asked.push(provider)
      return lists[provider]?.includes(id) ?? false
    },
  })
  return { choice: [choice.provider, choice.modelId], asked }
}

describe('without a model in the message', () => {
  test.each<[string, AgentChoice['settings'], Partial<ModelConfiguration>, [Provider, string | undefined]]>([
    ['the first configured provider', {}, {}, ['openai', undefined]],
    ['the operator’s provider', {}, { defaultProvider: 'anthropic' }, ['anthropic', undefined]],
    [
      'the operator’s provider and model',
      {},
      { defaultProvider: 'anthropic', defaultModel: 'x/y' },
      ['anthropic', 'x/y'],
    ],
    [
      'the operator’s model alone',
      {},
      { defaultModel: 'anthropic/claude-opus-5' },
      ['anthropic', 'claude-opus-5'],
    ],
    [
      'the agent’s provider',
      { llm_provider: 'anthropic' },
      { defaultProvider: 'openai', defaultModel: 'gpt-5.4' },
      ['anthropic', undefined],
    ],
    [
      'the agent’s provider, the same as the operator’s',
      { llm_provider: 'openai' },
      { defaultProvider: 'openai', defaultModel: 'gpt-5.4' },
      ['openai', 'gpt-5.4'],
    ],
    [
      'the agent’s provider, the operator’s model of no provider',
      { llm_provider: 'anthropic' },
      { defaultModel: 'gpt-5.4' },
      ['anthropic', undefined],
    ],
    [
      'the agent’s provider and model, as it stands',
      { ...router, llm_model: 'anthropic/claude-opus-5' },
      {},
      ['openai-compatible', 'anthropic/claude-opus-5'],
    ],
    ['the agent’s model alone', { llm_model: 'claude-opus-5' }, {}, ['anthropic', 'claude-opus-5']],
    [
      'builtin, chosen although others are configured',
      { llm_provider: 'builtin' },
      {},
      ['builtin', undefined],
    ],
  ])('%s', async (_, settings, configuration, expected) => {
    expect((await choose(undefined, settings, configuration)).choice).toEqual(expected)
  })

  test.each<[string, AgentChoice['settings'], Partial<ModelConfiguration>, [Provider, string | undefined]]>([
    ['the default of the first configured provider', {}, {}, ['openai', 'gpt-5.4-mini']],
    [
      'the operator’s model alone',
      {},
      { defaultModel: 'anthropic/claude-opus-5' },
      ['anthropic', 'claude-opus-5'],
    ],
    [
      'the agent’s provider and model',
      { ...router, llm_model: 'anthropic/x' },
      {},
      ['openai-compatible', 'anthropic/x'],
    ],
    [
      'the agent’s provider alone',
      { llm_provider: 'anthropic' },
      { defaultModel: 'gpt-5.4' },
      ['anthropic', 'claude-sonnet-5-5'],
    ],
    ['a server that alone knows its models', router, {}, ['openai-compatible', undefined]],
  ])('can be said without asking: %s', (_, settings, configuration, expected) => {
    const choice = modelInForce(
      { settings, credentials: keys },
      { embeddingProvider: 'builtin', ...configuration },
    )
    expect([choice.provider, choice.modelId]).toEqual(expected)
  })

  test('builtin where nothing is configured', async () => {
    expect((await choose(undefined, {}, {}, {})).choice).toEqual(['builtin', undefined])
  })

  test('a provider that there is not is a wrong setting', async () => {
    await expect(choose(undefined, { llm_provider: 'mistral' })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: { field: 'llm_provider' },
    })
  })
})

describe('a model in the message', () => {
  test.each<[string, string, AgentChoice['settings'], [Provider, string]]>([
    ['provider/id', 'anthropic/claude-opus-5', {}, ['anthropic', 'claude-opus-5']],
    [
      'provider/id, for a provider without credentials',
      'google/gemini-2.5-pro',
      {},
      ['google', 'gemini-2.5-pro'],
    ],
    [
      'provider/id with more slashes',
      'openai-compatible/meta/llama',
      {},
      ['openai-compatible', 'meta/llama'],
    ],
    ['an id with a slash of its own', 'meta/llama', router, ['openai-compatible', 'meta/llama']],
    [
      'an id of the agent’s server that looks like provider/id',
      'openai/gpt-5.4',
      router,
      ['openai-compatible', 'openai/gpt-5.4'],
    ],
    ['one that the server does not list goes to the provider', 'openai/gpt-4o', router, ['openai', 'gpt-4o']],
    [
      'a provider that is not configured is no provider on such a server',
      'google/gemini-2.5-pro',
      router,
      ['openai-compatible', 'google/gemini-2.5-pro'],
    ],
    ['builtin', 'builtin', {}, ['builtin', 'builtin']],
    ['an id of the agent’s provider', 'gpt-5.4', {}, ['openai', 'gpt-5.4']],
    ['an id of another provider’s list', 'claude-opus-5', {}, ['anthropic', 'claude-opus-5']],
    ['an id of both lists', 'shared', { llm_provider: 'anthropic' }, ['anthropic', 'shared']],
    ['an id of no list', 'never-heard-of', {}, ['openai', 'never-heard-of']],
  ])('%s', async (_, requested, settings, expected) => {
    expect((await choose(requested, settings)).choice).toEqual(expected)
  })

  test('asks nobody where the id itself says it, or where there is only one to ask', async () => {
    expect((await choose('gpt-5.4-mini')).asked).toEqual([])
    expect((await choose('anthropic/claude-opus-5')).asked).toEqual([])
    expect((await choose('never-heard-of', {}, {}, { openai_api_key: 'k' })).asked).toEqual([])
  })
})
