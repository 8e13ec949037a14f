import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { writeKeyFile, writeNextKey } from '#platform/encryption/encryption-key.ts'
import { createSecretBox, type SecretBox } from '#platform/encryption/secret-box.ts'
import { createLog } from '#platform/logging/log.ts'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'
import type { PlatformTables } from '../tables.ts'
import { createAgentSecrets } from './agent-secrets.ts'
import { checkEncryptionKey, finishRotation } from './check-encryption-key.ts'
import { credentialContext } from './credential-context.ts'
import { rotateEncryptionKey } from './rotate-encryption-key.ts'

const [previous, current, stranger] = [1, 2, 3].map(() => createSecretBox(randomBytes(32))) as [
  SecretBox,
  SecretBox,
  SecretBox,
]

async function store(platform: Kysely<PlatformTables>, box: SecretBox, name: string): Promise<void> {
  const sealed = box.seal(`secret of ${name}`, credentialContext('a', name))
  await platform.insertInto('agent_credentials').values({ agent_id: 'a', name, sealed }).execute()
}

async function openAll(platform: Kysely<PlatformTables>, box: SecretBox): Promise<string[]> {
  const rows = await platform.selectFrom('agent_credentials').selectAll().orderBy('name').execute()
  return rows.map(row => box.open(row.sealed, credentialContext(row.agent_id, row.name)))
}

async function setUp() {
  const storage = await openEmbeddedStorage()
  await storage.addAgent('a')
  await checkEncryptionKey(storage.platform, previous)
  return storage
}

test('the key that a database was first opened with is the only one that it accepts', async () => {
  const { platform } = await setUp()
  await checkEncryptionKey(platform, previous)
  await expect(checkEncryptionKey(platform, current)).rejects.toThrow(
    /not the one that this data was written with/,
  )
})

test('after a rotation everything opens with the new key, which is the one accepted from then on', async () => {
  const { platform } = await setUp()
  await store(platform, previous, 'one')
  await store(platform, previous, 'two')
  expect(await rotateEncryptionKey({ platform, previous, current })).toEqual({ resealed: 2, left: 0 })
  expect(await openAll(platform, current)).toEqual(['secret of one', 'secret of two'])
  await checkEncryptionKey(platform, current)
  await expect(checkEncryptionKey(platform, previous)).rejects.toThrow()
})

test('a rotation may be run again, and leaves what is under the new key', async () => {
  const { platform } = await setUp()
  await store(platform, previous, 'one')
  await rotateEncryptionKey({ platform, previous, current })
  await store(platform, current, 'two')
  await store(platform, previous, 'three')
  expect(await rotateEncryptionKey({ platform, previous, current })).toEqual({ resealed: 1, left: 2 })
  expect(await openAll(platform, current)).toEqual(['secret of one', 'secret of three', 'secret of two'])
})

test('with a credential that neither key opens, nothing is changed', async () => {
  const { platform } = await setUp()
  await store(platform, previous, 'one')
  await store(platform, stranger, 'two')
  await expect(rotateEncryptionKey({ platform, previous, current })).rejects.toThrow(/another key/)
  await platform.deleteFrom('agent_credentials').where('name', '=', 'two').execute()
  expect(await openAll(platform, previous)).toEqual(['secret of one'])
  await checkEncryptionKey(platform, previous)
})

test('a previous key that is not the one of this database is refused', async () => {
  const { platform } = await setUp()
  await expect(rotateEncryptionKey({ platform, previous: stranger, current })).rejects.toThrow(
    /Set ENCRYPTION_KEY_PREVIOUS to that key/,
  )
  await checkEncryptionKey(platform, previous)
})

test('the secrets of what an agent has set up are sealed anew as well', async () => {
  const { platform } = await setUp()
  const set = await createAgentSecrets(platform, previous).write('a', { token: 'abc', 'X-Key': 'def' })
  expect(await rotateEncryptionKey({ platform, previous, current })).toEqual({ resealed: 2, left: 0 })
  expect(await createAgentSecrets(platform, current).read('a', set)).toEqual({ token: 'abc', 'X-Key': 'def' })
})

test('a rotation of the generated key that died is finished if its transaction was, and forgotten otherwise', async () => {
  const { platform } = await setUp()
  const path = join(temporaryDirectory(), 'encryption.key')
  const [generated, next] = [randomBytes(32), randomBytes(32)]
  const stored = () => readFileSync(path, 'utf8').trim()
  const log = createLog('silent')
  await writeKeyFile(path, generated.toString('base64'))
  await writeNextKey(path, next)
  await finishRotation(platform, path, log)
  expect(stored()).toBe(generated.toString('base64'))
  await rotateEncryptionKey({ platform, previous, current: createSecretBox(next) })
  await finishRotation(platform, path, log)
  expect(stored()).toBe(next.toString('base64'))
  await finishRotation(platform, path, log)
  expect(stored()).toBe(next.toString('base64'))
})
