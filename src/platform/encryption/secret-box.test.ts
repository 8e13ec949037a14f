import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecretBox } from './secret-box.ts'

const key = randomBytes(32)
const box = createSecretBox(key)
const context = ['agent-1', 'openai_api_key']

test.each(['', 'sk-test', 'ключ 鍵 🔑', 'x'.repeat(100_000)])('a sealed secret opens again', secret => {
  const sealed = box.seal(secret, context)
  expect(createSecretBox(key).open(sealed, context)).toBe(secret)
})

test('the sealed text does not contain the secret, and differs each time', () => {
  const first = box.seal('sk-test-secret', context)
  expect(first).not.toContain('sk-test-secret')
  expect(Buffer.from(first.split(':')[2] ?? '', 'base64url').toString('latin1')).not.toContain('sk-test')
  expect(box.seal('sk-test-secret', context)).not.toBe(first)
})

test.each([
  ['another agent', ['agent-2', 'openai_api_key']],
  ['another name', ['agent-1', 'google_api_key']],
  ['parts split elsewhere', ['agent-1openai', '_api_key']],
  ['no context', []],
])('a sealed text does not open in another place: %s', (_name, other) => {
  expect(() => box.open(box.seal('secret', context), other)).toThrow(/altered, or belongs elsewhere/)
})

test('a sealed text does not open with another key, and keys are told apart', () => {
  const other = createSecretBox(randomBytes(32))
  const sealed = box.seal('secret', context)
  expect(() => other.open(sealed, context)).toThrow(/another key/)
  expect([box.owns(sealed), other.owns(sealed)]).toEqual([true, false])
})

test('a sealed text with another key id in front does not open', () => {
  const other = createSecretBox(randomBytes(32))
  const forged = box.seal('secret', context).replace(box.keyId, other.keyId)
  expect(() => other.open(forged, context)).toThrow(/altered/)
})

test('every altered byte is noticed', () => {
  const sealed = box.seal('secret', context)
  const start = sealed.lastIndexOf(':') + 1
  const bytes = Buffer.from(sealed.slice(start), 'base64url')
  for (const index of bytes.keys()) {
    const altered = Buffer.from(bytes)
    altered.writeUInt8(altered.readUInt8(index) ^ 1, index)
    expect(() => box.open(sealed.slice(0, start) + altered.toString('base64url'), context)).toThrow(/altered/)
  }
})

test('a cut off text is refused, down to a tag that is too short', () => {
  const sealed = box.seal('', context)
  for (let length = box.keyId.length + 4; length < sealed.length; length++)
    expect(() => box.open(sealed.slice(0, length), context)).toThrow(/can't be opened/)
})

test('a key of another length is refused', () => {
  expect(() => createSecretBox(randomBytes(16))).toThrow('an encryption key has 32 bytes, not 16')
})

test('derives secrets that are the same for the same key and purpose, and for no others', () => {
  const other = randomBytes(32)
  const secret = createSecretBox(key).derive(['role', 'a'])
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect(createSecretBox(key).derive(['role', 'a'])).toBe(secret)
  expect(createSecretBox(key).derive(['role', 'b'])).not.toBe(secret)
  expect(createSecretBox(key).derive(['rolea'])).not.toBe(secret)
  expect(createSecretBox(other).derive(['role', 'a'])).not.toBe(secret)
})
