import { describe, expect, test } from 'vitest'
import type { AgentChoice, ModelConfiguration } from '../choice/model-configuration.ts'
import { sendDirectly } from '../transport/send-directly.ts'
import type { RemoteProvider } from './provider.ts'
import { accessTo, endpointOf, notConfigured, usableProviders, waysOut } from './provider-access.ts'

const nothing: ModelConfiguration = { embeddingProvider: 'builtin' }
const everything: ModelConfiguration = {
  openai: { apiKey: 'platform-openai', baseUrl: 'https://gateway.example/openai/v1/' },
  anthropic: { apiKey: 'platform-anthropic' },
  google: { apiKey: 'platform-google' },
  openaiCompatible: { baseUrl: 'http://127.0.0.1:11434/v1', apiKey: 'platform-compatible' },
  embeddingProvider: 'builtin',
}

function agent(
  credentials: Record<string, string> = {},
  settings: AgentChoice['settings'] = {},
): AgentChoice {
  return { settings, credentials }
}

const ownKeys = {
  openai_api_key: 'own-openai',
  anthropic_api_key: 'own-anthropic',
  google_api_key: 'own-google',
  openai_compatible_api_key: 'own-compatible',
}
const ownAddress = { llm_base_url: 'https://models.example/v1' }

describe('where a provider is reached, and with whose key', () => {
  test.each<[string, RemoteProvider, AgentChoice, ModelConfiguration, unknown]>([
    [
      'the public address and the own key',
      'openai',
      agent(ownKeys),
      nothing,
      ['https://api.openai.com/v1', 'own-openai', 'operator', 'agent'],
    ],
    [
      'the operator’s address and key',
      'openai',
      agent(),
      everything,
      ['https://gateway.example/openai/v1', 'platform-openai', 'operator', 'platform'],
    ],
    [
      'the operator’s address, the own key first',
      'openai',
      agent(ownKeys),
      everything,
      ['https://gateway.example/openai/v1', 'own-openai', 'operator', 'agent'],
    ],
    [
      'Anthropic',
      'anthropic',
      agent(ownKeys),
      everything,
      ['https://api.anthropic.com/v1', 'own-anthropic', 'operator', 'agent'],
    ],
    [
      'Google',
      'google',
      agent(),
      everything,
      ['https://generativelanguage.googleapis.com/v1beta', 'platform-google', 'operator', 'platform'],
    ],
    [
      'the operator’s compatible server',
      'openai-compatible',
      agent(),
      everything,
      ['http://127.0.0.1:11434/v1', 'platform-compatible', 'operator', 'platform'],
    ],
    [
      'the operator’s compatible server, the own key first',
      'openai-compatible',
      agent(ownKeys),
      everything,
      ['http://127.0.0.1:11434/v1', 'own-compatible', 'operator', 'agent'],
    ],
    [
      'the agent’s compatible server: never the platform’s key',
      'openai-compatible',
      agent({}, ownAddress),
      everything,
      ['https://models.example/v1', undefined, 'agent', 'agent'],
    ],
    [
      'the agent’s compatible server with its own key',
      'openai-compatible',
      agent(ownKeys, ownAddress),
      everything,
      ['https://models.example/v1', 'own-compatible', 'agent', 'agent'],
    ],
    [
      'an address of the agent changes nothing for the others',
      'openai',
      agent({}, ownAddress),
      everything,
      ['https://gateway.example/openai/v1', 'platform-openai', 'operator', 'platform'],
    ],
    [
      'the operator’s compatible server without a key',
      'openai-compatible',
      agent(),
      { ...nothing, openaiCompatible: { baseUrl: 'http://127.0.0.1:11434/v1' } },
      ['http://127.0.0.1:11434/v1', undefined, 'operator', 'platform'],
    ],
    ['no key', 'openai', agent(), nothing, undefined],
    [
      'an address without a key',
      'openai',
      agent(),
      { ...nothing, openai: { baseUrl: 'https://gateway.example' } },
      undefined,
    ],
    ['an empty key', 'anthropic', agent({ anthropic_api_key: '' }), nothing, undefined],
    ['no compatible server', 'openai-compatible', agent(ownKeys), nothing, undefined],
  ])('%s', (_, provider, choice, configuration, expected) => {
    const access = accessTo(provider, choice, configuration)
    expect(access && [access.baseUrl, access.apiKey, access.addressFrom, access.paidBy]).toEqual(expected)
  })

  test('no key of another name is used', () => {
    expect(usableProviders(agent({ telegram_bot_token: 't', smtp_url: 's' }), nothing)).toEqual(['builtin'])
  })

  test('the usable ones come in order of preference', () => {
    expect(usableProviders(agent(), everything)).toEqual([
      'openai',
      'anthropic',
      'google',
      'openai-compatible',
      'builtin',
    ])
    expect(usableProviders(agent({ google_api_key: 'k' }), nothing)).toEqual(['google', 'builtin'])
  })

  test('the error for the others says what to set', () => {
    expect(notConfigured('google')).toMatchObject({
      code: 'MODEL_NOT_CONFIGURED',
      message: expect.stringMatching(/google_api_key .*GOOGLE_GENERATIVE_AI_API_KEY/),
    })
  })
})

test('an agent’s address goes through the guard, an operator’s does not, and neither follows redirects', async () => {
  const calls: unknown[] = []
  const fetchNamed =
    (name: string): typeof fetch =>
    async (_, init) => {
      calls.push([name, init?.redirect])
      return new Response()
    }
  const fetches = { trusted: fetchNamed('trusted'), outbound: fetchNamed('outbound') }
  const ways = waysOut(fetches)
  await endpointOf(
    { baseUrl: 'https://a.example/v1', apiKey: 'k', addressFrom: 'agent', paidBy: 'agent' },
    ways,
  ).fetch('https://a.example')
  await endpointOf(
    { baseUrl: 'https://b.example/v1', apiKey: 'k', addressFrom: 'operator', paidBy: 'agent' },
    ways,
  ).fetch('https://b.example')
  expect(calls).toEqual([
    ['outbound', 'error'],
    ['trusted', 'error'],
  ])
})

test('what nothing guards goes to an operator’s address alone, and every endpoint of a kind goes the same way', () => {
  const ways = waysOut({ trusted: fetch, outbound: fetch })
  const endpoint = (addressFrom: 'agent' | 'operator') =>
    endpointOf({ baseUrl: 'https://a.example/v1', apiKey: 'k', addressFrom, paidBy: 'agent' }, ways)
  expect(endpoint('operator').send).toBe(sendDirectly)
  expect(endpoint('agent').send).toBeUndefined()
  expect(endpoint('agent').fetch).toBe(endpoint('agent').fetch)
  expect(endpoint('operator').fetch).toBe(endpoint('operator').fetch)
})
