import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openEmbeddedStorage } from '#test/support/embedded-storage.ts'
import { temporaryDirectory } from '#test/support/temporary-directory.ts'

const time = '2026-01-01T00:00:00.000Z'
const source = { type: 'file', name: 'a.txt', status: 'ready', progress: 1, config: '{}' }

test('files of no source are removed once in a process, before anyone uploads; others stay', async () => {
  const path = temporaryDirectory()
  const files = join(path, 'agents/a/files')
  const before = await openEmbeddedStorage({ path })
  await before.addAgent('a')
  await before.agentDatabases.use('a', ({ db }) =>
    db
      .insertInto('sources')
      .values({ ...source, id: 'known', file_path: 'known', created_at: time, updated_at: time })
      .execute(),
  )
  for (const name of ['known', 'cut-short']) writeFileSync(join(files, name), 'text')
  await before.close()

  const after = await openEmbeddedStorage({ path, limit: 1 })
  await after.addAgent('b')
  await after.agentDatabases.use('a', async () => {})
  expect(existsSync(join(files, 'cut-short'))).toBe(false)
  expect(existsSync(join(files, 'known'))).toBe(true)

  writeFileSync(join(files, 'being-received'), 'text')
  await after.agentDatabases.use('b', async () => {})
  await after.agentDatabases.use('a', async () => {})
  expect(existsSync(join(files, 'being-received'))).toBe(true)
})
