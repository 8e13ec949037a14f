import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecretBox } from '#platform/encryption/secret-box.ts'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { createAgentSecrets } from './agent-secrets.ts'

async function setUp() {
  const { platform, addAgent } = await openEmbeddedStorage()
  for (const id of ['a', 'b']) await addAgent(id)
  return { platform, secrets: createAgentSecrets(platform, createSecretBox(randomBytes(32))) }
}

test('a set is read as it was written, by its agent alone, until it is removed', async () => {
  const { secrets } = await setUp()
  const set = await secrets.write('a', { token: 'abc', other: 'def' })
  expect(await secrets.read('a', set)).toEqual({ token: 'abc', other: 'def' })
  expect(await secrets.read('b', set)).toEqual({})
  await secrets.remove('b', [set])
  expect(await secrets.read('a', set)).toEqual({ token: 'abc', other: 'def' })
  await secrets.remove('a', [null, set])
  expect(await secrets.read('a', set)).toEqual({})
})

test('no secrets are no set', async () => {
  const { secrets } = await setUp()
  expect(await secrets.write('a', {})).toBeNull()
  expect(await secrets.read('a', null)).toEqual({})
})

test('nothing of a secret stands in clear text, and a row moved to another set does not open', async () => {
  const { platform, secrets } = await setUp()
  const set = await secrets.write('a', { token: 'plain text' })
  const rows = await platform.selectFrom('agent_secrets').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain('plain text')
  await platform.updateTable('agent_secrets').set({ set_id: 'another' }).execute()
  await expect(secrets.read('a', 'another')).rejects.toThrow(/belongs elsewhere/)
  expect(await secrets.read('a', set)).toEqual({})
})
