import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Provider, RemoteProvider } from '../providers/provider.ts'
import {
  catalogueOf,
  contextWindowOf,
  defaultModelOf,
  describeModel,
  unknownContextWindow,
} from './model-catalogue.ts'

describe.each<RemoteProvider>(['openai', 'anthropic', 'google'])('the catalogue of %s', provider => {
  const packaged = readFileSync(fileURLToPath(import.meta.resolve(`@ai-sdk/${provider}`)), 'utf8')

  test.each(catalogueOf(provider).map(model => [model.id, model] as const))('%s', (id, model) => {
    expect(packaged).toContain(`"${id}"`)
    expect(model).toMatchObject({ provider, supportsTools: true, supportsStreaming: true })
    expect(contextWindowOf(provider, id)).toBe(model.contextWindow)
    expect(model.name).not.toBe(id)
  })

  test('begins with the default', () => {
    expect(defaultModelOf(provider)).toBe(catalogueOf(provider)[0]?.id)
  })
})

describe('the window of a model', () => {
  test.each<[Provider, string, number | undefined]>([
    ['openai', 'gpt-5.4', 1_050_000],
    ['openai', 'gpt-5.4-mini-2026-03-17', 400_000],
    ['openai', 'gpt-5-chat-latest', 128_000],
    ['openai', 'gpt-4', 8_192],
    ['openai', 'gpt-4o-2024-11-20', 128_000],
    ['openai', 'ft:gpt-4.1-mini:me::1', 1_047_576],
    ['openai', 'something-new', undefined],
    ['anthropic', 'claude-opus-4-5-20251101', 200_000],
    ['anthropic', 'claude-opus-4-6', 1_000_000],
    ['anthropic', 'claude-sonnet-5-5', 1_000_000],
    ['google', 'gemini-3.1-pro-preview', 1_048_576],
    ['google', 'gemini-9', undefined],
    ['openai-compatible', 'gpt-5', undefined],
    ['builtin', 'builtin', unknownContextWindow],
  ])('%s %s: %s', (provider, id, tokens) => expect(contextWindowOf(provider, id)).toBe(tokens))
})

test('what a list leaves out is completed, what it says counts', () => {
  expect(describeModel('openai-compatible', { id: 'llama3' })).toEqual({
    id: 'llama3',
    name: 'llama3',
    provider: 'openai-compatible',
    contextWindow: unknownContextWindow,
    supportsTools: true,
    supportsStreaming: true,
  })
  const said = { id: 'claude-opus-5', name: 'Opus', contextWindow: 5, supportsTools: false }
  expect(describeModel('anthropic', said)).toMatchObject(said)
  expect(describeModel('openai', { id: 'gpt-5-chat-latest' }).supportsTools).toBe(false)
})
