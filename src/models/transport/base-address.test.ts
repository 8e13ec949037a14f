import { expect, test } from 'vitest'
import { addressBelow, baseAddress } from './base-address.ts'

test.each([
  ['https://api.anthropic.com', 'https://api.anthropic.com/v1', 'https://api.anthropic.com/v1'],
  ['http://localhost:11434/', undefined, 'http://localhost:11434/v1'],
  [
    'https://generativelanguage.googleapis.com',
    'https://generativelanguage.googleapis.com/v1beta',
    'https://generativelanguage.googleapis.com/v1beta',
  ],
  ['https://gateway.example/openai/v2///', undefined, 'https://gateway.example/openai/v2'],
  ['https://azure.example/?version=1', undefined, 'https://azure.example/v1?version=1'],
  ['https://azure.example/openai/?version=1/', undefined, 'https://azure.example/openai?version=1/'],
  ['https://azure.example/openai?version=1/', undefined, 'https://azure.example/openai?version=1/'],
])('an address without a path gets its version: %s', (address, publicAddress, expected) => {
  expect(baseAddress(address, publicAddress)).toBe(expected)
})

test('the query of a base address goes behind the path, and behind that of the path', () => {
  expect(addressBelow('https://one.example/v1', '/models')).toBe('https://one.example/v1/models')
  const base = 'https://one.example/v1?version=1?'
  expect(addressBelow(base, '/models')).toBe('https://one.example/v1/models?version=1?')
  expect(addressBelow(base, '/models?limit=9')).toBe('https://one.example/v1/models?limit=9&version=1?')
})
